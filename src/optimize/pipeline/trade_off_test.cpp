#include "optimize/pipeline/trade_off.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace zeus::optimize::pipeline {
namespace {

using records::ComputationProfile;
using records::FrequencyOption;

FrequencyOption at(double frequency, double time, double energy) {
  return {Megahertz{frequency}, Seconds{time}, Joules{energy}};
}

TEST(EfficientOptions, DropOptionsBeatenInBothTimeAndEnergy) {
  const ComputationProfile profile{"forward", {at(600, 4, 9), at(900, 3, 6), at(1200, 2, 8), at(1000, 2.5, 8.5)}};
  EXPECT_EQ(efficient_options(profile, 0_W), (std::vector{at(1200, 2, 8), at(900, 3, 6)}));
}

TEST(EfficientOptions, KeepTheHighestFrequencyOfEqualMeasurements) {
  const ComputationProfile profile{"forward", {at(900, 2, 8), at(1200, 2, 8), at(1000, 2, 8)}};
  EXPECT_EQ(efficient_options(profile, 0_W), (std::vector{at(1200, 2, 8)}));
}

TEST(EfficientOptions, SubtractTheEnergyOfBlocking) {
  // The slower option saves 2 J of computing and 1 s of blocking at 5 W.
  const ComputationProfile profile{"forward", {at(1200, 2, 20), at(900, 3, 22)}};
  EXPECT_EQ(efficient_options(profile, 0_W).size(), 1u);
  EXPECT_EQ(efficient_options(profile, 5_W).size(), 2u);
}

TEST(EfficientOptions, RefuseInvalidMeasurements) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const ComputationProfile& profile :
       {ComputationProfile{"empty", {}}, ComputationProfile{"negative", {at(900, -1, 1)}},
        ComputationProfile{"endless", {at(900, infinite, 1)}}, ComputationProfile{"backwards", {at(-1, 1, 1)}},
        ComputationProfile{"unbounded", {at(infinite, 1, 1)}}, ComputationProfile{"glowing", {at(900, 1, infinite)}},
        ComputationProfile{"free", {at(900, 1, -1)}},
        ComputationProfile{"unknown", {at(900, 1, std::numeric_limits<double>::quiet_NaN())}}}) {
    try {
      efficient_options(profile, 0_W);
      FAIL() << profile.name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(error.message().find(profile.name), std::string::npos) << error.what();
    }
  }
}

TEST(EfficientOptions, AcceptZeroTimeAndEnergy) {
  EXPECT_EQ(efficient_options({"idle", {at(0, 0, 0)}}, 5_W), (std::vector{at(0, 0, 0)}));
}

TEST(TradeOff, LeavesOutKnotsOnALine) {
  const std::vector options{at(1200, 1, 10), at(1100, 2, 8), at(900, 3, 6)};
  EXPECT_EQ(trade_off_of(options, 0_W), (TradeOff{{1_s, 10_J}, {3_s, 6_J}}));
}

TEST(TradeOff, IsTheLowerHull) {
  const std::vector options{at(1200, 1, 10), at(1100, 2, 9), at(900, 3, 4), at(600, 5, 3)};
  EXPECT_EQ(trade_off_of(options, 0_W), (TradeOff{{1_s, 10_J}, {3_s, 4_J}, {5_s, 3_J}}));
}

TEST(TradeOff, IsConvexFallingAndBelowEveryPointOfARandomProfile) {
  Random random{5};
  for (int trial = 0; trial < 300; ++trial) {
    ComputationProfile profile{"forward", {}};
    for (std::uint64_t i = 0; i <= random.below(20); ++i) {
      profile.options.push_back(at(100, random.uniform(0, 1), random.uniform(0, 100)));
    }
    const Watts blocking{random.uniform(0, 50)};
    const TradeOff hull = trade_off_of(efficient_options(profile, blocking), blocking);
    for (std::size_t i = 1; i < hull.size(); ++i) {
      EXPECT_LT(hull[i - 1].time, hull[i].time);
      EXPECT_GT(hull[i - 1].cost, hull[i].cost);
    }
    for (std::size_t i = 2; i < hull.size(); ++i) {
      EXPECT_LT((hull[i - 1].cost - hull[i - 2].cost) / (hull[i - 1].time - hull[i - 2].time),
                (hull[i].cost - hull[i - 1].cost) / (hull[i].time - hull[i - 1].time));
    }
    for (const FrequencyOption& option : profile.options) {
      EXPECT_GE(option.time, hull.front().time);
      EXPECT_GE(cost_of(option, blocking).value(), cost_at(hull, option.time).value() - 1e-9);
    }
  }
}

TEST(TradeOff, CostIsLinearBetweenKnotsAndLevelBeyondTheLast) {
  const TradeOff hull{{1_s, 10_J}, {3_s, 4_J}};
  EXPECT_EQ(cost_at(hull, 0.5_s), 10_J);
  EXPECT_EQ(cost_at(hull, 1_s), 10_J);
  EXPECT_EQ(cost_at(hull, 3_s), 4_J);
  EXPECT_EQ(cost_at(hull, 2_s), 7_J);
  EXPECT_EQ(cost_at(hull, 9_s), 4_J);
}

}  // namespace
}  // namespace zeus::optimize::pipeline
