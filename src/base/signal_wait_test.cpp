#include "base/signal_wait.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <variant>

namespace zeus {
namespace {

TEST(SignalWait, ReportsTheSignalInsteadOfItsUsualEffect) {
  const SignalWait wait{SIGTERM, SIGWINCH};
  ::raise(SIGTERM);
  EXPECT_EQ(wait.wait_for(Seconds{60}), SIGTERM);
}

TEST(SignalWait, ReportsNoSignalWhenTheTimeIsUp) {
  const SignalWait wait{SIGTERM};
  EXPECT_EQ(wait.wait_for(Seconds{0}), std::nullopt);
}

TEST(SignalWait, IsEndedBySomethingToReadAsWell) {
  const SignalWait wait{SIGTERM};
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(wait.wait_for(Seconds{0}, ends[0])));
  ASSERT_EQ(::write(ends[1], "q", 1), 1);
  EXPECT_TRUE(std::holds_alternative<SignalWait::Input>(wait.wait_for(Seconds{60}, ends[0])));
  ::raise(SIGTERM);
  const auto woken = wait.wait_for(Seconds{60}, ends[0]);
  ASSERT_TRUE(std::holds_alternative<int>(woken));
  EXPECT_EQ(std::get<int>(woken), SIGTERM);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(wait.wait_for(Seconds{0}, -1)));
}

TEST(SignalWait, LeavesTheSignalsAsTheyWere) {
  sigset_t before{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  { const SignalWait wait{SIGUSR1}; }
  sigset_t after{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(::sigismember(&after, SIGUSR1), ::sigismember(&before, SIGUSR1));
}

}  // namespace
}  // namespace zeus
