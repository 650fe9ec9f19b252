#include "control/state_folder.hpp"

#include "base/file_tree.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace zeus::control {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uid_t some_user = 1234;

TEST(StateFolder, IsOneForTheMachineBeforeOneForTheUser) {
  const Environment environment{{{"XDG_RUNTIME_DIR", "/run/user/1234"}}};
  EXPECT_THAT(state_folders(environment, some_user), ElementsAre("/run/zeus", "/run/user/1234/zeus", "/tmp/zeus-1234"));
  EXPECT_THAT(state_folders(environment, 0), ElementsAre("/run/zeus", "/tmp/zeus-0"));
  EXPECT_THAT(state_folders(Environment{{{"XDG_RUNTIME_DIR", "here"}}}, some_user),
              ElementsAre("/run/zeus", "/tmp/zeus-1234"));
}

TEST(StateFolder, TheUsersChoiceIsTheOnlyOne) {
  const Environment environment{{{"ZEUS_STATE_DIR", "/somewhere/"}, {"XDG_RUNTIME_DIR", "/run/user/1234"}}};
  EXPECT_THAT(state_folders(environment, some_user), ElementsAre("/somewhere/"));
  EXPECT_THROW(state_folders(Environment{{{"ZEUS_STATE_DIR", "here"}}}, some_user), Error);
}

class ChosenStateFolder : public ::testing::Test {
 protected:
  test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path() / "a" / "b";
  Environment environment_{{{"ZEUS_STATE_DIR", folder_.string()}}};
};

TEST_F(ChosenStateFolder, IsMadeForItsOwnerOnlyAndFoundAgain) {
  EXPECT_FALSE(find_state_folder(environment_, ::geteuid()));
  EXPECT_EQ(make_state_folder(environment_, ::geteuid()), folder_);
  EXPECT_EQ(find_state_folder(environment_, ::geteuid()), folder_);
  struct stat status {};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(ChosenStateFolder, IsRefusedIfOthersCouldReplaceItsContents) {
  fs::create_directories(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_THROW(make_state_folder(environment_, ::geteuid()), Error);
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  EXPECT_EQ(make_state_folder(environment_, ::geteuid()), folder_);
}

TEST_F(ChosenStateFolder, IsAProblemOnlyIfItIsThereAndCannotBeUsed) {
  EXPECT_THAT(state_folder_problems(environment_, ::geteuid()), IsEmpty());
  EXPECT_NO_THROW(check_state_folder(environment_, ::geteuid()));
  EXPECT_FALSE(fs::exists(folder_.parent_path())) << "checking made it";
  fs::create_directories(folder_);
  EXPECT_THAT(state_folder_problems(environment_, ::geteuid()), IsEmpty());
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(state_folder_problems(environment_, ::geteuid()),
              ElementsAre(Field(&DeviceProblem::what, HasSubstr("other users may replace files in it"))));
  EXPECT_THROW(check_state_folder(environment_, ::geteuid()), Error);
}

TEST_F(ChosenStateFolder, IsRefusedWhenItIsALinkOrAFile) {
  fs::create_directories(folder_.parent_path());
  fs::create_directories(temporary_.path() / "elsewhere");
  fs::create_directory_symlink(temporary_.path() / "elsewhere", folder_);
  EXPECT_THROW(make_state_folder(environment_, ::geteuid()), Error);
  fs::remove(folder_);
  FileTree{folder_.parent_path()}.write_durably("b", "a file");
  EXPECT_THROW(make_state_folder(environment_, ::geteuid()), Error);
}

TEST_F(ChosenStateFolder, IsRefusedWhenItIsAnotherUsers) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "giving a folder to another user takes root";
  }
  fs::create_directories(folder_);
  ASSERT_EQ(::chown(folder_.c_str(), some_user, some_user), 0);
  EXPECT_THROW(make_state_folder(environment_, 0), Error);
}

}  // namespace
}  // namespace zeus::control
