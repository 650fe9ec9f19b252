#include "run/termination.hpp"

#include "tests/support/at_second.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace zeus::run {
namespace {

using test::at_second;

TEST(Termination, DoesNothingBeforeItBegins) {
  Termination ending{Seconds{10}};
  EXPECT_FALSE(ending.due(at_second(100)));
  EXPECT_FALSE(ending.next());
}

TEST(Termination, AsksOnceThenKillsOnceAfterTheGrace) {
  Termination ending{Seconds{10}};
  ending.begin(at_second(5));
  EXPECT_EQ(ending.next(), at_second(5));
  EXPECT_EQ(ending.due(at_second(5)), SIGTERM);
  EXPECT_EQ(ending.next(), at_second(15));
  EXPECT_FALSE(ending.due(at_second(14.9)));
  EXPECT_EQ(ending.due(at_second(15)), SIGKILL);
  EXPECT_FALSE(ending.due(at_second(16)));
  EXPECT_FALSE(ending.next());
}

TEST(Termination, KillsAfterTheGracePeriodOfARequestedEnd) {
  Termination ending{Seconds{10}};
  ending.begin_asked(at_second(5));
  EXPECT_FALSE(ending.due(at_second(5)));
  EXPECT_EQ(ending.next(), at_second(15));
  EXPECT_FALSE(ending.killed());
  EXPECT_EQ(ending.due(at_second(15)), SIGKILL);
  EXPECT_TRUE(ending.killed());
}

TEST(Termination, IsNotPutOffByBeginningAgain) {
  Termination ending{Seconds{10}};
  ending.begin(at_second(0));
  EXPECT_EQ(ending.due(at_second(0)), SIGTERM);
  ending.begin(at_second(9));
  EXPECT_EQ(ending.due(at_second(10)), SIGKILL);
}

}  // namespace
}  // namespace zeus::run
