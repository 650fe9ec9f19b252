#include "base/signal_wait.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zeus {
namespace {

TEST(SignalWait, SaysWhichSignalCameInThePlaceOfWhatItUsuallyDoes) {
  const SignalWait wait{SIGTERM, SIGWINCH};
  ::raise(SIGTERM);
  EXPECT_EQ(wait.wait_for(Seconds{60}), SIGTERM);
}

TEST(SignalWait, SaysNothingWhenTheTimeIsUp) {
  const SignalWait wait{SIGTERM};
  EXPECT_EQ(wait.wait_for(Seconds{0}), std::nullopt);
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
