#include "control/open_lease_book.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace zeus::control {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FindGuardian : public ::testing::Test {
 protected:
  void install(const std::string& place) {
    const fs::path program = folder_.path() / place;
    fs::create_directories(program.parent_path());
    FileTree{folder_.path()}.write_durably(place, "#!/bin/sh\n");
    fs::permissions(program, fs::perms::owner_all);
  }

  test::TemporaryFolder folder_;
};

TEST_F(FindGuardian, LooksWhereItIsBuiltAndInstalled) {
  for (const auto& [beside, place] :
       {std::pair{"build/bin", "build/bin/zeus_guardian"}, std::pair{"built/lib", "built/bin/zeus_guardian"},
        std::pair{"usr/bin", "usr/libexec/zeus/zeus_guardian"},
        std::pair{"opt/lib/x86_64-linux-gnu", "opt/libexec/zeus/zeus_guardian"},
        std::pair{"env/bin", "env/lib/zeus/zeus_guardian"}}) {
    install(place);
    fs::create_directories(folder_.path() / beside);
    EXPECT_EQ(find_guardian(Environment{}, folder_.path() / beside), folder_.path() / place);
  }
}

TEST_F(FindGuardian, TheUsersChoiceComesFirst) {
  install("bin/zeus_guardian");
  EXPECT_EQ(find_guardian(Environment{{{"ZEUS_GUARDIAN", "/elsewhere/guardian"}}}, folder_.path() / "bin"),
            "/elsewhere/guardian");
}

TEST_F(FindGuardian, AProgramThatCannotRunIsNotFoundAndThePlacesAreNamed) {
  FileTree{folder_.path()}.write_durably("bin/zeus_guardian", "not a program");
  try {
    static_cast<void>(find_guardian(Environment{}, folder_.path() / "bin"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
    EXPECT_THAT(error.what(), HasSubstr((folder_.path() / "bin/zeus_guardian").string()));
    EXPECT_THAT(error.what(), HasSubstr("ZEUS_GUARDIAN"));
  }
}

}  // namespace
}  // namespace zeus::control
