#include "run/termination.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zeus::run {
namespace {

constexpr Instant at(double seconds) {
  return Instant{} + Seconds{seconds};
}

TEST(Termination, DoesNothingBeforeItBegins) {
  Termination ending{Seconds{10}};
  EXPECT_FALSE(ending.due(at(100)));
  EXPECT_FALSE(ending.next());
}

TEST(Termination, AsksOnceThenKillsOnceAfterTheGrace) {
  Termination ending{Seconds{10}};
  ending.begin(at(5));
  EXPECT_EQ(ending.next(), at(5));
  EXPECT_EQ(ending.due(at(5)), SIGTERM);
  EXPECT_EQ(ending.next(), at(15));
  EXPECT_FALSE(ending.due(at(14.9)));
  EXPECT_EQ(ending.due(at(15)), SIGKILL);
  EXPECT_FALSE(ending.due(at(16)));
  EXPECT_FALSE(ending.next());
}

TEST(Termination, KillsAfterTheGracePeriodOfARequestedEnd) {
  Termination ending{Seconds{10}};
  ending.begin_asked(at(5));
  EXPECT_FALSE(ending.due(at(5)));
  EXPECT_EQ(ending.next(), at(15));
  EXPECT_FALSE(ending.killed());
  EXPECT_EQ(ending.due(at(15)), SIGKILL);
  EXPECT_TRUE(ending.killed());
}

TEST(Termination, IsNotPutOffByBeginningAgain) {
  Termination ending{Seconds{10}};
  ending.begin(at(0));
  EXPECT_EQ(ending.due(at(0)), SIGTERM);
  ending.begin(at(9));
  EXPECT_EQ(ending.due(at(10)), SIGKILL);
}

}  // namespace
}  // namespace zeus::run
