#include "optimize/cost/energy_time_cost.hpp"

#include "tests/support/three_limits.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace zeus::optimize {
namespace {

using records::LimitProfile;
using test::three_limits;

TEST(EnergyTimeCost, IsTimeAtFullPowerForEtaZeroAndEnergyForEtaOne) {
  EXPECT_EQ(EnergyTimeCost(0, 250_W).of(7000_J, 10_s), 2500_J);
  EXPECT_EQ(EnergyTimeCost(1, 250_W).of(7000_J, 10_s), 7000_J);
  EXPECT_EQ(EnergyTimeCost(0.5, 300_W).of(1000_J, 10_s), 2000_J);
}

TEST(EnergyTimeCost, AnEpochCostsItsPowerAndTime) {
  EXPECT_EQ(EnergyTimeCost(0.5, 250_W).of_epoch(three_limits[1]), 0.5 * 1560_J + 0.5 * 3000_J);
}

TEST(EnergyTimeCost, TheCheapestLimitDependsOnEta) {
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(0, 250_W), three_limits), 2U);
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(0.5, 250_W), three_limits), 2U);
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(1, 250_W), three_limits), 1U);
}

TEST(EnergyTimeCost, ChoosesTheHighestOfLimitsThatCostTheSame) {
  constexpr double above_one = 1.0 + 1e-12;
  const std::vector<LimitProfile> alike{
      {100_W, 10_s, 90_W}, {150_W, 10_s, above_one * 90_W}, {200_W, 10_s, 90_W}, {250_W, 10_s, 1.001 * 90_W}};
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(0.5, 250_W), alike), 2U);
  const std::vector<LimitProfile> reversed{alike.rbegin(), alike.rend()};
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(0.5, 250_W), reversed), 1U);
}

// Costs of energy alone, each with a half-width of 3 %: two of them differ if they are more than 4.2 % apart.
TEST(EnergyTimeCost, ChoosesTheHighestOfLimitsWithinTheirUncertainty) {
  const auto measured = [](Watts limit, Watts power) {
    return LimitProfile{.limit = limit,
                        .epoch_time = 10_s,
                        .average_power = power,
                        .epoch_time_uncertainty = 0_s,
                        .average_power_uncertainty = 0.03 * power};
  };
  std::vector<LimitProfile> limits{measured(100_W, 104_W), measured(150_W, 100_W), measured(200_W, 104_W),
                                   measured(250_W, 105_W)};
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(1, 250_W), limits), 2U);
  limits[2].average_power_uncertainty.reset();
  EXPECT_EQ(cheapest_limit(EnergyTimeCost(1, 250_W), limits), 1U) << "without an uncertainty only rounding counts";
}

// An epoch takes 100 J +- 3 J and 10 s +- 0.4 s, and a second costs 100 J.
TEST(EnergyTimeCost, TheUncertaintyOfAnEpochCombinesEnergyAndTime) {
  LimitProfile epoch{.limit = 100_W,
                     .epoch_time = 10_s,
                     .average_power = 10_W,
                     .epoch_time_uncertainty = 0.4_s,
                     .average_power_uncertainty = 0.3_W};
  EXPECT_NEAR(EnergyTimeCost(0.5, 100_W).doubt_of_epoch(epoch)->value(), 0.5 * std::hypot(3.0, 40.0), 1e-9);
  epoch.epoch_time_uncertainty.reset();
  EXPECT_EQ(EnergyTimeCost(0.5, 100_W).doubt_of_epoch(epoch), std::nullopt);
}

TEST(EnergyTimeCost, AMeanEpochGivesEachLimitAnEqualShare) {
  const LimitProfile mean = mean_epoch(three_limits);
  EXPECT_EQ(mean.epoch_time, 14_s);
  EXPECT_DOUBLE_EQ((mean.average_power * mean.epoch_time).value(), (1800.0 + 1560.0 + 2000.0) / 3.0);
  EXPECT_EQ(mean.limit, 250_W);
}

TEST(EnergyTimeCost, RegretIsTheCostBeyondTheOptimum) {
  EXPECT_EQ(regret(10_J, 8_J), 2_J);
}

TEST(EnergyTimeCost, RefusesInvalidWeightsAndPowers) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(EnergyTimeCost(-0.01, 250_W), Error);
  EXPECT_THROW(EnergyTimeCost(1.01, 250_W), Error);
  EXPECT_THROW(EnergyTimeCost(nan, 250_W), Error);
  EXPECT_THROW(EnergyTimeCost(0.5, 0_W), Error);
  EXPECT_THROW(EnergyTimeCost(0.5, Watts{nan}), Error);
}

}  // namespace
}  // namespace zeus::optimize
