#include "drivers/session/followed_groups.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace zeus::drivers {
namespace {

using Groups = std::vector<pid_t>;
using Places = std::vector<ProcessPlace>;

constexpr pid_t one_session = 5;

TEST(FollowedGroups, AreTheCommandsOwnWithItsWorkers) {
  const Places processes{
      {10, 1, 10, one_session}, {11, 10, 10, one_session}, {12, 11, 10, one_session}, {90, 1, 90, one_session}};
  EXPECT_EQ(followed_groups(processes, 10), (Groups{10}));
}

TEST(FollowedGroups, AreThoseThatAProgramLooksAfterAndNotItsOwn) {
  const Places processes{
      {10, 1, 10, one_session}, {11, 10, 11, one_session}, {12, 11, 11, one_session}, {13, 10, 11, one_session}};
  EXPECT_EQ(followed_groups(processes, 10), (Groups{11}));
}

TEST(FollowedGroups, AreFoundBelowAShell) {
  const Places processes{
      {10, 1, 10, one_session}, {11, 10, 10, one_session}, {12, 11, 12, one_session}, {13, 10, 13, one_session}};
  EXPECT_EQ(followed_groups(processes, 10), (Groups{12, 13}));
}

TEST(FollowedGroups, AreSingleProcessesBelowWhatAShellWithJobControlStarted) {
  const ProcessPlace shell{10, 1, 10, one_session, true};
  EXPECT_EQ(followed_groups(
                Places{shell, {11, 10, 11, one_session}, {12, 11, 11, one_session}, {13, 10, 11, one_session}}, 10),
            (Groups{-12}))
      << "the shell would report 11 or 13 as stopped";
  EXPECT_EQ(followed_groups(Places{shell, {11, 10, 11, one_session}, {12, 11, 12, one_session}}, 10), (Groups{12}));
  EXPECT_EQ(followed_groups(Places{shell, {11, 10, 10, one_session}}, 10), (Groups{10}))
      << "a shell without job control";
  const ProcessPlace outside{1, 0, 1, one_session, true};
  EXPECT_EQ(followed_groups(Places{outside, {10, 1, 10, one_session}, {11, 1, 10, one_session}}, 10), (Groups{10}))
      << "a shell that does not belong to the command";
}

TEST(FollowedGroups, LeaveOutWhatHasLeftTheSession) {
  const Places processes{{10, 1, 10, one_session}, {11, 10, 11, 11}, {12, 11, 12, 11}};
  EXPECT_EQ(followed_groups(processes, 10), (Groups{10}));
}

TEST(FollowedGroups, AreTheCommandsOwnIfNothingIsKnown) {
  EXPECT_EQ(followed_groups({}, 10), (Groups{10}));
}

TEST(FollowedGroups, ReadTheKernelsRecordForAnyProgramName) {
  const test::TemporaryFolder folder;
  const auto write = [&](const char* process, const char* stat) {
    std::filesystem::create_directories(folder.path() / "proc" / process);
    std::ofstream{folder.path() / "proc" / process / "stat"} << stat;
  };
  write("21", "21 (a) ) (b 1) S 1 20 5 0 -1 4194560");
  write("22", "22 (cut");
  write("24", "24 (bash) S 1 24 5 0");
  write("self", "23 (x) S 1 23 5");
  EXPECT_EQ(read_processes(FileTree{folder.path()}), (Places{{21, 1, 20, 5}, {24, 1, 24, 5, true}}));
}

TEST(FollowedGroups, FindThisProcess) {
  const Places processes = read_processes(FileTree{});
  const ProcessPlace ours{::getpid(), ::getppid(), ::getpgrp(), ::getsid(0)};
  EXPECT_NE(std::ranges::find(processes, ours), processes.end());
}

}  // namespace
}  // namespace zeus::drivers
