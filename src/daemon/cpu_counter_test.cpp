#include "daemon/cpu_counter.hpp"

#include <gtest/gtest.h>

namespace zeus::daemon {
namespace {

const device::EnergyCounter counter{.resolution = Joules{15e-6}, .wraps_at = 262'144_J, .scope = PowerScope::package};

class CpuCounterTest : public ::testing::Test {
 protected:
  CpuCounter::Reading at(double seconds, Joules raw, std::uint64_t generation = 0) {
    return counter_.take({raw, Instant{} + Seconds{seconds}, Seconds{0}}, counter, generation);
  }
  CpuCounter counter_;
};

TEST_F(CpuCounterTest, BeginsWhereTheHardwareStands) {
  EXPECT_EQ(at(10, 1000_J).total, 1000_J);
  EXPECT_EQ(at(20, 1500_J).total, 1500_J);
}

TEST_F(CpuCounterTest, ContinuesWhenTheHardwareWraps) {
  at(10, 262'000_J);
  const CpuCounter::Reading after = at(20, 356_J);
  EXPECT_EQ(after.total, 262'500_J);
  EXPECT_EQ(after.began, Instant{} + Seconds{10});
}

TEST_F(CpuCounterTest, StartsAgainIfItMayHaveWrappedUnseen) {
  at(10, 1000_J);
  const CpuCounter::Reading after = at(10 + 262, 5000_J);
  EXPECT_EQ(after.began, Instant{} + Seconds{272});
}

TEST_F(CpuCounterTest, StartsAgainIfTheHardwareWasReset) {
  at(10, 200'000_J);
  EXPECT_EQ(at(11, 3_J).began, Instant{} + Seconds{11}) << "62 kJ in a second is more than any package takes";
}

TEST_F(CpuCounterTest, StartsAgainWithANewDevice) {
  at(10, 1000_J, 0);
  EXPECT_EQ(at(11, 1001_J, 1).began, Instant{} + Seconds{11});
}

TEST_F(CpuCounterTest, GoesOnOverAShortRestart) {
  at(10, 1000_J);
  at(20, 1500_J);
  CpuCounter next;
  next.resume(*counter_.saved());
  const CpuCounter::Reading after = next.take({1600_J, Instant{} + Seconds{30}, Seconds{0}}, counter, 7);
  EXPECT_EQ(after.total, 1600_J);
  EXPECT_EQ(after.began, Instant{} + Seconds{10});
}

TEST_F(CpuCounterTest, ARestartAcrossAWrapGoesOnToo) {
  at(10, 262'000_J);
  CpuCounter next;
  next.resume(*counter_.saved());
  EXPECT_EQ(next.take({356_J, Instant{} + Seconds{20}, Seconds{0}}, counter, 0).total, 262'500_J);
}

TEST_F(CpuCounterTest, StartsAgainAfterALongRestart) {
  at(10, 1000_J);
  CpuCounter next;
  next.resume(*counter_.saved());
  EXPECT_EQ(next.take({1600_J, Instant{} + Seconds{600}, Seconds{0}}, counter, 0).began, Instant{} + Seconds{600});
}

TEST(LongestUnread, IsHalfOfWhatAWrapTakesAtTheMostPower) {
  EXPECT_LE(longest_unread(counter), Seconds{30});
  EXPECT_EQ(longest_unread({.resolution = 1_J, .wraps_at = 2000_J, .scope = PowerScope::package}), Seconds{0.5});
}

}  // namespace
}  // namespace zeus::daemon
