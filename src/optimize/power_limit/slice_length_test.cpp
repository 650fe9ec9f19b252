#include "optimize/power_limit/slice_length.hpp"

#include <gtest/gtest.h>

namespace zeus::optimize {
namespace {

TEST(SliceLength, StartsWithTheGivenLengths) {
  const SliceLength length{5, 10, 100_ms};
  EXPECT_EQ(length.measure(), 5U);
  EXPECT_EQ(length.settle(), 10U);
}

// Window edges that blur a mean of 5 steps by 0.03 blur one of 15 by 0.01, half of the acceptable amount.
TEST(SliceLength, GrowsIfTheEdgesOfAWindowBlurIt) {
  SliceLength length{5, 10, 100_ms};
  length.adapt(5, 5_s, 0.02);
  EXPECT_EQ(length.measure(), 5U) << "just acceptable";
  length.adapt(5, 5_s, 0.03);
  EXPECT_EQ(length.measure(), 15U);
  length.adapt(15, 15_s, 0.5);
  EXPECT_EQ(length.measure(), 40U) << "at most";
}

// A GPU follows a new setting within 100 ms here. Steps of 40 ms need three to settle; steps of 5 ms are limited to
// ten; for steps of 4 s, settling is 2.5 % of a single step and is ignored.
TEST(SliceLength, SettlesForAsManyStepsAsTheGpuNeeds) {
  SliceLength length{5, 10, 100_ms};
  length.adapt(5, 200_ms, 0.0);
  EXPECT_EQ(length.settle(), 3U);
  length.adapt(5, 25_ms, 0.0);
  EXPECT_EQ(length.settle(), 10U);
  length.adapt(5, 20_s, 0.0);
  EXPECT_EQ(length.settle(), 0U);
  length.adapt(5, 10_s, 0.0);
  EXPECT_EQ(length.settle(), 1U);
}

// Ten steps of 0.1 s would take 1 s; steps of 10 s are two at least.
TEST(SliceLength, TakesFewerStepsIfTheyAreSlow) {
  SliceLength length{10, 10, 0.1_s, 0.25_s};
  length.adapt(10, 0.1_s, 0.0);
  EXPECT_EQ(length.measure(), 10U);
  length.adapt(10, 1_s, 0.0);
  EXPECT_EQ(length.measure(), 3U);
  length.adapt(3, 30_s, 0.0);
  EXPECT_EQ(length.measure(), 2U);
}

}  // namespace
}  // namespace zeus::optimize
