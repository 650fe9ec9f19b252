#include "base/dynamic_library.hpp"

#include "base/file_tree.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace zeus {
namespace {

TEST(DynamicLibrary, AMissingLibraryIsAnOrdinaryAnswer) {
  const std::array<std::string, 2> names{"libzeus-no-such.so.1", "libzeus-no-such.so"};
  EXPECT_FALSE(DynamicLibrary::open(names));
}

TEST(DynamicLibrary, TakesTheFirstNameThatIsThere) {
  const std::array<std::string, 2> names{"libzeus-no-such.so.1", "libm.so.6"};
  const auto library = DynamicLibrary::open(names);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->name(), "libm.so.6");
}

TEST(DynamicLibrary, KnowsWhatThisProcessHasLoaded) {
  EXPECT_TRUE(DynamicLibrary::is_loaded("libc.so.6"));
  EXPECT_FALSE(DynamicLibrary::is_loaded("libnothing-of-zeus.so"));
}

TEST(DynamicLibrary, FindsTheNewestOfSeveralVersionsOfAFunction) {
  const std::array<std::string, 1> names{"libm.so.6"};
  const auto library = DynamicLibrary::open(names);
  ASSERT_TRUE(library);
  auto* const cosine = library->function<double(double)>({"cos_v2", "cos"});
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->function<double(double)>({"no_such_function"}), nullptr);
}

TEST(DynamicLibrary, ALibraryThatIsThereButBrokenIsAnError) {
  const test::TemporaryFolder folder;
  FileTree{folder.path()}.write_durably("libbroken.so", "this is no ELF file");
  const std::array<std::string, 1> names{(folder.path() / "libbroken.so").string()};
  EXPECT_THROW(static_cast<void>(DynamicLibrary::open(names)), Error);
}

TEST(FolderOfThisCode, IsWhereTheProgramLies) {
  EXPECT_EQ(folder_of_this_code(), std::filesystem::canonical("/proc/self/exe").parent_path());
}

}  // namespace
}  // namespace zeus
