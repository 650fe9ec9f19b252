#include "trial/slice_profiling.hpp"

#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <variant>
#include <vector>

namespace zeus::trial {
namespace {

// Those options of a session that slices decide about.
struct SessionOptions {
  PowerProfiling plan;
  std::vector<Watts> limits;
  bool try_clocks = true;
  std::uint32_t wait_steps = 1;
  double drift_tolerance = 0.15;
};

TEST(SliceProfiling, ComparesAsUsualWhereNoLimitsAreAskedFor) {
  const SessionOptions options = profiling_of(Slices{.warm_up = 3}, SessionOptions{.limits = {150_W, 250_W}});
  EXPECT_EQ(options.limits, (std::vector{150_W, 250_W}));
  EXPECT_TRUE(options.try_clocks);
  EXPECT_EQ(options.drift_tolerance, 0.15) << "again if the training changes";
  EXPECT_EQ(std::get<AdaptiveProfiling>(options.plan).warm_up, 3U);
}

TEST(SliceProfiling, MeasuresTheLimitsThatAreAskedForOnce) {
  const SessionOptions options = profiling_of(
      Slices{.limits = {200_W}, .lengths = Slices::Lengths{.settle = 1, .measure = 4, .wait = 2}}, SessionOptions{});
  EXPECT_EQ(options.limits, (std::vector{200_W}));
  EXPECT_FALSE(options.try_clocks);
  EXPECT_EQ(options.drift_tolerance, 0.0);
  EXPECT_EQ(std::get<SweepProfiling>(options.plan).settle, 1U);
  EXPECT_EQ(std::get<SweepProfiling>(options.plan).measure, 4U);
  EXPECT_EQ(options.wait_steps, 2U);
}

}  // namespace
}  // namespace zeus::trial
