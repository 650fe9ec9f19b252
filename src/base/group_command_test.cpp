#include "base/group_command.hpp"

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace zeus {
namespace {

using How = GroupCommandEnd::How;
using ::testing::HasSubstr;

const Environment plain{{{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}}};

GroupCommandEnd run(const std::string& script, Seconds patience = Seconds{600}, Seconds linger = Seconds{600}) {
  return run_to_end({.words = {"sh", "-c", script}, .environment = plain, .patience = patience, .linger = linger});
}

// The processes of a group that still run, without those that only wait to be collected.
std::vector<std::string> living_in(const std::string& group) {
  std::vector<std::string> living;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc", ignored}) {
    std::ifstream file{entry.path() / "stat"};
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) {
      continue;
    }
    std::istringstream rest{text.substr(name_end + 1)};
    std::string state;
    std::string parent;
    std::string its_group;
    rest >> state >> parent >> its_group;
    if (its_group == group && state != "Z" && state != "X") {
      living.push_back(text);
    }
  }
  return living;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// A killed process takes a moment to be gone.
bool nothing_left_in(const std::string& group) {
  for (int i = 0; i < 6000; ++i) {
    if (living_in(group).empty()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return false;
}

TEST(GroupCommand, KeepsTheOutputAndTheEnd) {
  const GroupCommandEnd end = run("echo done; echo careful >&2; exit 3");
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "done\n");
  EXPECT_EQ(end.errors, "careful\n");
  EXPECT_FALSE(end.cut);
  EXPECT_FALSE(end.abandoned);
}

TEST(GroupCommand, ASignalIsNoExitCode) {
  const GroupCommandEnd end = run("kill -SEGV $$");
  EXPECT_EQ(end.how, How::killed);
  EXPECT_EQ(end.code, SIGSEGV);
}

TEST(GroupCommand, WhatCannotBeStartedSaysWhy) {
  const auto start = [](const std::string& program) { return run_to_end({.words = {program}, .environment = plain}); };
  EXPECT_EQ(start("no-such-program").how, How::not_started);
  EXPECT_EQ(start("no-such-program").code, ENOENT);
  EXPECT_EQ(start("/no/such/program").code, ENOENT);
  EXPECT_EQ(start("/etc/passwd").code, EACCES);
  EXPECT_EQ(start("").code, ENOENT);
  EXPECT_EQ(run_to_end({.words = {}, .environment = plain}).code, ENOENT);
}

TEST(GroupCommand, GetsItsEnvironmentNoInputAndNoneOfOurFiles) {
  EXPECT_EQ(run("env | grep -v ^_= | grep -v ^PWD= | sort").output, "LANG=C.UTF-8\nPATH=/usr/bin:/bin\n");
  EXPECT_EQ(run("cat; readlink /proc/self/fd/0").output, "/dev/null\n");
  // Inherited by accident, as from a library that opens files without O_CLOEXEC.
  const int open = ::dup2(STDERR_FILENO, 77);
  ASSERT_EQ(open, 77);
  EXPECT_THAT(run("ls /proc/$$/fd").output, ::testing::Not(HasSubstr("77")));
  ::close(open);
}

TEST(GroupCommand, IsAGroupOfItsOwn) {
  const GroupCommandEnd end = run("echo $$; ps -o pgid= -p $$ || cut -d' ' -f5 /proc/$$/stat");
  std::istringstream lines{end.output};
  std::string process;
  std::string group;
  lines >> process >> group;
  EXPECT_EQ(process, group);
  EXPECT_NE(group, std::to_string(::getpgrp()));
}

TEST(GroupCommand, WhenPatienceIsOverAllAreKilledInRealTime) {
  const GroupCommandEnd end =
      run("trap '' TERM INT HUP; echo $$; sleep 600 & (trap '' TERM; sleep 600) & sleep 600", Seconds{0.3});
  EXPECT_EQ(end.how, How::timed_out);
  EXPECT_TRUE(nothing_left_in(first_line(end.output)));
}

TEST(GroupCommand, AChildThatKeepsThePipeDoesNotDelayTheEndInRealTime) {
  const GroupCommandEnd end = run("echo $$; sleep 600 & exit 0", Seconds{600}, Seconds{0.1});
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.code, 0);
  EXPECT_TRUE(end.abandoned);
  EXPECT_TRUE(nothing_left_in(first_line(end.output)));
}

TEST(GroupCommand, AChildThatHasLetThePipeGoIsKilledAsWell) {
  const GroupCommandEnd end = run("echo $$; sleep 600 </dev/null >/dev/null 2>&1 & exit 0");
  EXPECT_EQ(end.how, How::exited);
  EXPECT_FALSE(end.abandoned);
  EXPECT_TRUE(nothing_left_in(first_line(end.output)));
}

TEST(GroupCommand, EndlessOutputIsReadAndBoundedInRealTime) {
  const GroupCommandEnd end = run("echo $$; yes & yes >&2", Seconds{2});
  EXPECT_EQ(end.how, How::timed_out);
  EXPECT_TRUE(end.cut);
  EXPECT_EQ(end.output.size(), 65'536U);
  EXPECT_EQ(end.errors.size(), 65'536U);
  EXPECT_TRUE(nothing_left_in(first_line(end.output)));
}

TEST(GroupCommand, MuchOutputIsReadToItsEnd) {
  const GroupCommandEnd end = run("head -c 3000000 /dev/zero; echo well >&2");
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.code, 0);
  EXPECT_TRUE(end.cut);
  EXPECT_FALSE(end.abandoned);
  EXPECT_EQ(end.errors, "well\n");
}

TEST(GroupCommand, ManyRunAtOnceAndLeaveNeitherChildrenNorDescriptorsInRealTime) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
  };
  const auto before = descriptors();
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (int& its_wrong : wrong) {
    threads.emplace_back([&its_wrong] {
      for (int i = 0; i < 25; ++i) {
        const GroupCommandEnd end = run(fmt::format("echo {0}; exit {0}", i));
        its_wrong += end.code == i && end.output == fmt::format("{}\n", i) && !end.abandoned ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
  EXPECT_EQ(descriptors(), before);
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(GroupCommand, OneThatMakesAGroupForItselfIsKilledInRealTime) {
  const GroupCommandEnd end = run("echo $$; exec timeout 600 sleep 600", Seconds{0.3});
  EXPECT_EQ(end.how, How::timed_out);
  EXPECT_TRUE(nothing_left_in(first_line(end.output)));
}

TEST(GroupCommand, EndsWithItsRunnerHoweverThatDiesInRealTime) {
  // Orphans become our children, so that we can collect them even if no init process does.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string group_file = std::filesystem::temp_directory_path() / ("group_" + std::to_string(::getpid()));
  const pid_t process = ::fork();
  if (process == 0) {
    (void)run("trap '' TERM; echo $$ > " + group_file + ".new; mv " + group_file + ".new " + group_file +
              "; sleep 600 & sleep 600");
    ::_exit(0);
  }
  std::string group;
  for (int i = 0; i < 6000 && group.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    std::ifstream{group_file} >> group;
  }
  ASSERT_FALSE(group.empty());
  EXPECT_FALSE(living_in(group).empty());
  ::kill(process, SIGKILL);
  EXPECT_TRUE(nothing_left_in(group));
  for (int i = 0; i < 6000 && ::waitpid(-1, nullptr, WNOHANG) >= 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  std::filesystem::remove(group_file);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace zeus
