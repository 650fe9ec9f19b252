#include "base/trusted_file.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

namespace zeus {
namespace {

using ::testing::HasSubstr;

constexpr uid_t nobody = 65'534;

class TrustedFile : public ::testing::Test {
 protected:
  TrustedFile() {
    ::chmod(folder_.path().c_str(), 0700);
    std::ofstream{file_} << "what was found";
    ::chmod(file_.c_str(), 0600);
  }

  void expect_distrust(const std::string& why) {
    try {
      read_trusted(file_, ::geteuid(), 100);
      ADD_FAILURE() << "was believed, though " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::permission_denied);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "record";
};

TEST_F(TrustedFile, OnesOwnIsRead) {
  EXPECT_EQ(read_trusted(file_, ::geteuid(), 100), "what was found");
}

TEST_F(TrustedFile, ReadsItsOwnFileInASharedFolderWithTheStickyBit) {
  ::chmod(folder_.path().c_str(), 01777);
  EXPECT_EQ(read_trusted(file_, ::geteuid(), 100), "what was found");
}

TEST_F(TrustedFile, AbsenceIsNothing) {
  EXPECT_EQ(read_trusted(folder_.path() / "missing", ::geteuid(), 100), std::nullopt);
  EXPECT_EQ(read_trusted(folder_.path() / "no" / "folder", ::geteuid(), 100), std::nullopt);
}

TEST_F(TrustedFile, RefusesAFileOfAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  ASSERT_EQ(::chown(file_.c_str(), nobody, nobody), 0);
  expect_distrust("it belongs to user 65534");
}

TEST_F(TrustedFile, EveryUserTrustsFilesOfRoot) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root has files of root";
  }
  EXPECT_EQ(read_trusted(file_, nobody, 100), "what was found");
}

TEST_F(TrustedFile, RefusesAFileThatOthersMayWrite) {
  ::chmod(file_.c_str(), 0620);
  expect_distrust("other users may write to it");
}

TEST_F(TrustedFile, RefusesASecretThatOthersMayRead) {
  EXPECT_EQ(read_trusted(file_, ::geteuid(), 100, Readers::owner), "what was found");
  for (const mode_t mode : {0640U, 0604U}) {
    ::chmod(file_.c_str(), mode);
    EXPECT_EQ(read_trusted(file_, ::geteuid(), 100), "what was found");
    EXPECT_THROW(read_trusted(file_, ::geteuid(), 100, Readers::owner), Error) << mode;
  }
}

TEST_F(TrustedFile, RefusesAnyFileInAFolderWhereOthersMayReplaceIt) {
  ::chmod(folder_.path().c_str(), 0777);
  expect_distrust("of its folder: other users may write to it");
}

TEST_F(TrustedFile, LinksAreNotFollowed) {
  std::filesystem::rename(file_, folder_.path() / "elsewhere");
  std::filesystem::create_symlink("elsewhere", file_);
  expect_distrust("it is a link");
}

TEST_F(TrustedFile, AFileWithASecondNameIsNotBelieved) {
  std::filesystem::create_hard_link(file_, folder_.path() / "kept");
  expect_distrust("second name");
}

TEST_F(TrustedFile, APipeOrAFolderIsNoFileAndIsNotWaitedFor) {
  std::filesystem::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  expect_distrust("not a plain file");
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  expect_distrust("not a plain file");
}

TEST_F(TrustedFile, ReportsAFileThatIsTooLong) {
  try {
    read_trusted(file_, ::geteuid(), 13);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
  }
  EXPECT_EQ(read_trusted(file_, ::geteuid(), 14), "what was found");
}

}  // namespace
}  // namespace zeus
