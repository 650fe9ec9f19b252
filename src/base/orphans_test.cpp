#include "base/orphans.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace zeus {
namespace {

// What is left behind asks for none of the usual ends: it has a session of its own and ignores SIGTERM.
void leave_behind(int ready) {
  if (::fork() == 0) {
    if (::fork() == 0) {
      ::setsid();
      ::signal(SIGTERM, SIG_IGN);
      const pid_t own = ::getpid();
      static_cast<void>(::write(ready, &own, sizeof own));
      while (true) {
        ::pause();
      }
    }
    ::_exit(0);
  }
}

TEST(OrphansInRealTime, AreEndedAlsoInSessionsOfTheirOwn) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    adopt_orphans();
    leave_behind(ends[1]);
    pid_t left = 0;
    if (::read(ends[0], &left, sizeof left) != sizeof left) {
      ::_exit(2);
    }
    end_orphans();
    ::_exit(::kill(left, 0) == 0 ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

// A shell with a job in the background that becomes `zeus measure` by exec leaves it that job.
TEST(OrphansInRealTime, AreNotChildrenThatWereThereBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t earlier = ::fork();
    if (earlier == 0) {
      while (true) {
        ::pause();
      }
    }
    const std::vector<pid_t> known = adopt_orphans();
    const pid_t own = ::fork();
    if (own == 0) {
      ::_exit(0);
    }
    const bool told = wait_for_orphans(known) == std::nullopt;
    const bool is_over = ::kill(own, 0) != 0;
    const bool is_left = ::kill(earlier, SIGKILL) == 0;
    ::_exit(told && is_over && is_left ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(OrphansInRealTime, WithoutAnyNothingIsWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    adopt_orphans();
    end_orphans();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace zeus
