#include "base/group_guard.hpp"

#include "base/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

namespace zeus {
namespace {

bool group_lives(pid_t group) {
  return ::kill(-group, 0) == 0;
}

// True if the condition holds within a minute.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return false;
}

// A program like ours, with a command and a guard: it reports the command's group and then waits to be killed.
pid_t holder(const std::string& script, Seconds grace, int answer) {
  const pid_t process = ::fork();
  if (process == 0) {
    ChildProcess child{{.command = {"sh", "-c", script},
                        .environment = Environment::of_process(),
                        .own_group = true,
                        .before_command = {}}};
    const GroupGuard guard{child.process(), grace};
    const pid_t group = child.process();
    (void)::write(answer, &group, sizeof group);
    (void)child.wait_for(Seconds{600});
    ::_exit(0);
  }
  return process;
}

class GroupGuardOfTheDead : public testing::TestWithParam<std::string> {};

TEST_P(GroupGuardOfTheDead, EndsTheWholeGroup) {
  // Orphans become our children, so that we can collect them even if no init process does.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t process = holder(GetParam(), Seconds{0.3}, ends[1]);
  pid_t group = 0;
  ASSERT_EQ(::read(ends[0], &group, sizeof group), static_cast<ssize_t>(sizeof group));
  EXPECT_TRUE(group_lives(group));
  ::kill(process, SIGKILL);
  EXPECT_TRUE(soon([&] {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return !group_lives(group);
  }));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

INSTANTIATE_TEST_SUITE_P(Commands, GroupGuardOfTheDead,
                         testing::Values("sleep 600", "sleep 600 & sleep 600 & wait",
                                         "trap '' TERM; sleep 600 & while :; do sleep 0.1; done"));

TEST(GroupGuard, LeavesTheGroupAloneWhenDismissed) {
  ChildProcess child{
      {.command = {"sleep", "600"}, .environment = Environment::of_process(), .own_group = true, .before_command = {}}};
  {
    GroupGuard guard{child.process(), Seconds{0}};
    EXPECT_EQ(guard.interruptions(), 0);
  }
  EXPECT_EQ(child.wait_for(Seconds{0.1}), std::nullopt);
  ::kill(child.process(), SIGKILL);
  EXPECT_EQ(child.wait_for(Seconds{60}), 128 + SIGKILL);
}

TEST(GroupGuard, OutlivesASignalToTheGroupThatNoTerminalSent) {
  ChildProcess child{
      {.command = {"sleep", "600"}, .environment = Environment::of_process(), .own_group = true, .before_command = {}}};
  GroupGuard guard{child.process(), Seconds{0}};
  ::kill(-child.process(), SIGINT);
  EXPECT_EQ(child.wait_for(Seconds{60}), 128 + SIGINT);
  EXPECT_EQ(guard.interruptions(), 0);
}

}  // namespace
}  // namespace zeus
