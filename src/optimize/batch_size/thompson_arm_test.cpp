#include "optimize/batch_size/thompson_arm.hpp"

#include "base/state_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::optimize {
namespace {

ThompsonArm seen(std::size_t window, std::initializer_list<double> costs, std::optional<PriorBelief> prior = {}) {
  ThompsonArm arm{window};
  if (prior) {
    arm.set_prior(*prior);
  }
  for (const double cost : costs) {
    arm.observe(Joules{cost});
  }
  return arm;
}

struct CostMoments {
  double mean = 0.0;
  double deviation = 0.0;
};

// The posterior of a mean cost by Bayes' rule: the prior times the likelihood of every cost, summed over a fine grid.
// The variance of a cost is the one that line 2 of algorithm 2 computes from the costs.
CostMoments cost_by_integration(std::span<const double> costs, std::optional<PriorBelief> prior) {
  double average = 0.0;
  for (const double cost : costs) {
    average += cost / static_cast<double>(costs.size());
  }
  double variance = 0.0;
  for (const double cost : costs) {
    variance += (cost - average) * (cost - average) / static_cast<double>(costs.size());
  }
  constexpr int points = 200'000;
  constexpr double low = 0.0;
  constexpr double high = 400.0;
  double weight = 0.0;
  double first = 0.0;
  double second = 0.0;
  for (int i = 0; i <= points; ++i) {
    const double theta = low + (high - low) * i / points;
    double log_density = 0.0;
    if (prior) {
      const double z = (theta - prior->mean.value()) / prior->deviation.value();
      log_density -= 0.5 * z * z;
    }
    for (const double cost : costs) {
      log_density -= 0.5 * (cost - theta) * (cost - theta) / variance;
    }
    const double density = std::exp(log_density);
    weight += density;
    first += density * theta;
    second += density * theta * theta;
  }
  first /= weight;
  return {first, std::sqrt(second / weight - first * first)};
}

TEST(ThompsonArm, HasNoBeliefBeforeACostOrAPrior) {
  EXPECT_FALSE(ThompsonArm{0}.believes());
  EXPECT_EQ(ThompsonArm{0}.count(), 0U);
  EXPECT_TRUE(seen(0, {5.0}).believes());
  ThompsonArm arm{0};
  arm.set_prior({.batch_size = 8, .mean = 70_J, .deviation = 3_J});
  EXPECT_TRUE(arm.believes());
  EXPECT_EQ(arm.count(), 0U);
  EXPECT_EQ(arm.mean(), 70_J);
  EXPECT_EQ(arm.deviation(), 3_J);
}

// Algorithm 2 with a flat prior, by hand. Costs 90, 100, 110: mean 100, variance (100 + 0 + 100) / 3 = 66.67; the
// standard deviation of the mean is sqrt(66.67 / 3) = 4.714.
TEST(ThompsonArm, WithAFlatPriorTheMeanIsThatOfTheCosts) {
  const ThompsonArm arm = seen(0, {90.0, 100.0, 110.0});
  EXPECT_EQ(arm.count(), 3U);
  EXPECT_NEAR(arm.mean().value(), 100.0, 1e-12);
  EXPECT_NEAR(arm.deviation().value(), std::sqrt(200.0 / 9.0), 1e-12);
}

// The same costs with a prior of N(130, 10^2): the precisions are 3 / 66.67 = 0.045 and 0.01, so the deviation is 1 /
// sqrt(0.055) and the mean (0.045 x 100 + 0.01 x 130) / 0.055.
TEST(ThompsonArm, APriorIsWeighedByItsPrecision) {
  const PriorBelief prior{.batch_size = 8, .mean = 130_J, .deviation = 10_J};
  const ThompsonArm arm = seen(0, {90.0, 100.0, 110.0}, prior);
  EXPECT_NEAR(arm.mean().value(), 5.8 / 0.055, 1e-9);
  EXPECT_NEAR(arm.deviation().value(), 1.0 / std::sqrt(0.055), 1e-9);
}

TEST(ThompsonArm, EqualsThePosteriorFoundByIntegration) {
  const std::vector<double> costs = {140.0, 95.0, 120.0, 133.0, 101.0};
  const PriorBelief prior{.batch_size = 8, .mean = 160_J, .deviation = 12_J};
  for (const std::optional<PriorBelief>& before : {std::optional<PriorBelief>{}, std::optional{prior}}) {
    const CostMoments expected = cost_by_integration(costs, before);
    const ThompsonArm all = seen(0, {140.0, 95.0, 120.0, 133.0, 101.0}, before);
    EXPECT_NEAR(all.mean().value(), expected.mean, 1e-6);
    EXPECT_NEAR(all.deviation().value(), expected.deviation, 1e-6);
    const ThompsonArm windowed = seen(5, {7.0, 400.0, 140.0, 95.0, 120.0, 133.0, 101.0}, before);
    EXPECT_EQ(windowed.count(), 5U);
    EXPECT_NEAR(windowed.mean().value(), expected.mean, 1e-6);
    EXPECT_NEAR(windowed.deviation().value(), expected.deviation, 1e-6);
  }
}

// Equal costs would have no variance, so it is at least (2 % of the mean) squared. Two costs of 50: a deviation of 1 /
// sqrt(2) of 2 %.
TEST(ThompsonArm, EqualCostsLeaveAMinimumDeviation) {
  EXPECT_NEAR(seen(0, {50.0, 50.0}).deviation().value(), 1.0 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(seen(0, {50.0}).deviation().value(), 1.0, 1e-12);
  EXPECT_NEAR(seen(3, {50.0}).deviation().value(), 1.0, 1e-12);
  // Costs of 49 and 51 have a variance of 1, which is the minimum; 48 and 52 have 4.
  EXPECT_NEAR(seen(0, {49.0, 51.0}).deviation().value(), 1.0 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(seen(0, {48.0, 52.0}).deviation().value(), std::sqrt(2.0), 1e-12);
}

TEST(ThompsonArm, CostsOfZeroHaveAlmostNoDeviation) {
  const ThompsonArm arm = seen(0, {0.0, 0.0});
  EXPECT_EQ(arm.mean(), 0_J);
  EXPECT_GT(arm.deviation(), 0_J);
  EXPECT_LT(arm.deviation(), 1e-100_J);
}

// A window of 3: of 10, 20, 30, 40, 80 it remembers 30, 40, 80, with mean 50 and variance (400 + 100 + 900) / 3.
TEST(ThompsonArm, AWindowForgetsTheOldestFirst) {
  const ThompsonArm arm = seen(3, {10.0, 20.0, 30.0, 40.0, 80.0});
  EXPECT_EQ(arm.count(), 3U);
  EXPECT_NEAR(arm.mean().value(), 50.0, 1e-12);
  EXPECT_NEAR(arm.deviation().value(), std::sqrt(1400.0 / 9.0), 1e-12);
  EXPECT_EQ(seen(3, {10.0, 20.0}).count(), 2U);
}

TEST(ThompsonArm, ScalesCostsAndPriorToAnotherGpu) {
  const PriorBelief prior{.batch_size = 8, .mean = 130_J, .deviation = 10_J};
  const PriorBelief tripled{.batch_size = 8, .mean = 390_J, .deviation = 30_J};
  for (const std::size_t window : {std::size_t{0}, std::size_t{3}}) {
    ThompsonArm arm = seen(window, {60.0, 90.0, 100.0, 110.0}, prior);
    arm.scale(3.0);
    const ThompsonArm expected = seen(window, {180.0, 270.0, 300.0, 330.0}, tripled);
    EXPECT_NEAR(arm.mean().value(), expected.mean().value(), 1e-9) << window;
    EXPECT_NEAR(arm.deviation().value(), expected.deviation().value(), 1e-9) << window;
    arm.observe(120_J);
    const ThompsonArm later = seen(window, {180.0, 270.0, 300.0, 330.0, 120.0}, tripled);
    EXPECT_NEAR(arm.mean().value(), later.mean().value(), 1e-9) << window;
    EXPECT_NEAR(arm.deviation().value(), later.deviation().value(), 1e-9) << window;
  }
  ThompsonArm nothing{0};
  nothing.set_prior(prior);
  nothing.scale(3.0);
  EXPECT_EQ(nothing.mean(), 390_J);
  EXPECT_EQ(nothing.deviation(), 30_J);
}

TEST(ThompsonArm, ContinuesFromItsSavedState) {
  const PriorBelief prior{.batch_size = 8, .mean = 130_J, .deviation = 10_J};
  for (const std::size_t window : {std::size_t{0}, std::size_t{3}}) {
    ThompsonArm kept = seen(window, {60.0, 90.0, 100.0, 110.0, 140.0}, prior);
    StateWriter writer;
    writer(kept);
    const std::string text = writer.take();
    ThompsonArm restored{window};
    StateReader reader{text};
    reader(restored);
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(restored.mean(), kept.mean());
    EXPECT_EQ(restored.deviation(), kept.deviation());
    kept.observe(10_J);
    restored.observe(10_J);
    EXPECT_EQ(restored.count(), kept.count());
    EXPECT_EQ(restored.mean(), kept.mean());
    EXPECT_EQ(restored.deviation(), kept.deviation());
  }
}

}  // namespace
}  // namespace zeus::optimize
