#include "base/background_thread.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <thread>

namespace zeus {
namespace {

int blocked() {
  sigset_t now{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  int count = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGCHLD}) {
    count += ::sigismember(&now, signal);
  }
  return count;
}

TEST(BackgroundThread, HandlesNoSignalsAndLeavesTheMaskOfItsStarter) {
  const int before = blocked();
  int inside = 0;
  background_thread([&inside] { inside = blocked(); }).join();
  EXPECT_EQ(inside, 6);
  EXPECT_EQ(blocked(), before);
}

TEST(BackgroundThread, ThreadsThatItsWorkStartsHandleNoSignals) {
  int inside = 0;
  without_signals([&inside] { std::thread{[&inside] { inside = blocked(); }}.join(); });
  EXPECT_EQ(inside, 6);
}

TEST(BackgroundThread, WhatItsWorkThrowsReachesTheOneThatWaits) {
  EXPECT_THROW(without_signals([] { throw std::runtime_error{"no driver"}; }), std::runtime_error);
}

}  // namespace
}  // namespace zeus
