#include "base/file_tree.hpp"

#include "base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

namespace zeus {
namespace {

class FileTreeTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  FileTree tree_{folder_.path()};
};

TEST_F(FileTreeTest, AbsenceIsAnOrdinaryAnswer) {
  EXPECT_FALSE(tree_.read("no/such/file"));
  EXPECT_FALSE(tree_.read_line("no"));
  EXPECT_TRUE(tree_.list("no/such/folder").empty());
  EXPECT_FALSE(tree_.exists("no"));
  EXPECT_FALSE(tree_.remove_durably("no/such/file"));
}

TEST_F(FileTreeTest, EverythingHappensBelowTheRoot) {
  tree_.write_durably("/sys/class/powercap/energy_uj", "12345\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "sys/class/powercap/energy_uj"));
  EXPECT_EQ(tree_.read("sys/class/powercap/energy_uj"), "12345\n");
  EXPECT_EQ(tree_.read_line("/sys/class/powercap/energy_uj"), "12345");
}

TEST_F(FileTreeTest, ListsNamesInOrder) {
  tree_.write_durably("zones/b", "");
  tree_.write_durably("zones/a", "");
  tree_.write_durably("zones/c/name", "");
  EXPECT_EQ(tree_.list("zones"), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(FileTreeTest, AnUnreadableFileIsAnErrorWithItsName) {
  std::filesystem::create_directory(folder_.path() / "folder");
  try {
    static_cast<void>(tree_.read("folder"));
    FAIL() << "a folder was read as a file";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("folder"), std::string::npos) << error.what();
  }
}

TEST_F(FileTreeTest, InRealTimeAPipeIsReadToItsEndOrUntilATimeout) {
  const std::string pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer{[&pipe] {
    const FileDescriptor file{::open(pipe.c_str(), O_WRONLY | O_CLOEXEC)};
    for (const char* const part : {"one ", "two ", "three"}) {
      write_all(file, part, pipe);
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }};
  EXPECT_EQ(tree_.read("pipe"), "one two three");
  writer.join();
  EXPECT_THROW(static_cast<void>(tree_.read("pipe")), Error);
}

TEST_F(FileTreeTest, ReadsNoMoreThanItIsAllowedTo) {
  tree_.write_durably("numbers", "12345");
  EXPECT_EQ(tree_.read("numbers", 5), "12345");
  EXPECT_THROW(static_cast<void>(tree_.read("numbers", 4)), Error);
}

TEST_F(FileTreeTest, FilesBelongToTheirOwnerOnlyAndLeaveNoOthersBehind) {
  tree_.write_durably("a", "secret");
  struct stat status {};
  ASSERT_EQ(::stat((folder_.path() / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(tree_.list(""), std::vector<std::string>{"a"});
}

TEST_F(FileTreeTest, AFailedWriteKeepsTheOldContentAndNoRest) {
  tree_.write_durably("a/keep", "old");
  EXPECT_THROW(tree_.write_durably("a", "a folder cannot be replaced by a file"), Error);
  EXPECT_THROW(tree_.write_durably("a/keep/below", "a file is no folder"), Error);
  EXPECT_EQ(tree_.read("a/keep"), "old");
  EXPECT_EQ(tree_.list(""), std::vector<std::string>{"a"});
}

TEST_F(FileTreeTest, AReaderSeesOldOrNewAndNeverAMixture) {
  const std::string old_content(100'000, 'o');
  const std::string new_content(100'000, 'n');
  tree_.write_durably("file", old_content);
  std::atomic<bool> stop{false};
  std::thread writer{[&] {
    for (int i = 0; i < 50; ++i) {
      tree_.write_durably("file", i % 2 == 0 ? new_content : old_content);
    }
    stop = true;
  }};
  while (!stop) {
    const std::optional<std::string> content = tree_.read("file");
    ASSERT_TRUE(content);
    EXPECT_TRUE(*content == old_content || *content == new_content);
  }
  writer.join();
}

TEST_F(FileTreeTest, RemovesDurably) {
  tree_.write_durably("a", "x");
  EXPECT_TRUE(tree_.remove_durably("a"));
  EXPECT_FALSE(tree_.exists("a"));
}

TEST_F(FileTreeTest, WritesFilesForOthersOnlyOnRequest) {
  const mode_t mask = ::umask(0022);
  tree_.write_durably("mine", "a");
  tree_.write_durably("everyones", "b", Readers::everyone);
  ::umask(mask);
  const auto others = std::filesystem::perms::group_read | std::filesystem::perms::others_read;
  EXPECT_EQ(std::filesystem::status(tree_.resolve("mine")).permissions() & others, std::filesystem::perms::none);
  EXPECT_EQ(std::filesystem::status(tree_.resolve("everyones")).permissions() & others, others);
  EXPECT_EQ(std::filesystem::status(tree_.resolve("everyones")).permissions() & std::filesystem::perms::others_write,
            std::filesystem::perms::none);
}

}  // namespace
}  // namespace zeus
