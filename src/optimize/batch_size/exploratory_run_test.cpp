// Compares the value of a trial with expectations by brute-force integration, trying every possible stop in turn.

#include "optimize/batch_size/exploratory_run.hpp"

#include "tests/support/normal_density.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zeus::optimize {
namespace {

using test::normal_density;

// E[f(z)] for a standard normal z.
template <typename Function>
double expectation(Function f) {
  double sum = 0.0;
  constexpr int points = 2'000;
  for (int i = 0; i <= points; ++i) {
    const double z = -10.0 + 20.0 * i / points;
    sum += normal_density(z) * f(z) * 20.0 / points;
  }
  return sum;
}

// The belief about two arms, of which the first was run.
EpochBelief about_two_arms(double noise = 0.3) {
  EpochPrior prior;
  prior.noises.fill(noise);
  EpochBelief belief{std::array{0.0, 1.0}, prior};
  belief.fit(std::array{EpochEvidence{.count = 3.0, .mean = 2.7, .squares = 0.1}, EpochEvidence{}});
  return belief;
}

// The value of a run that is stopped after `stop` steps, computed directly from the definition. Each step costs
// `stride` epochs. A run that reaches the target within a step has taught what that shows about the arm. A run that is
// stopped falls back, and its start is lost.
double value_of_stopping(const ExploratoryRun& run, const EpochBelief& belief, int stride, int stop) {
  const double mean = belief.mean(run.arm);
  const double variance = belief.variance(run.arm);
  const double noise = belief.noise(run.arm);
  double cost = 0.0;
  const auto alive = [&](int step) { return belief.survival(run.arm, std::log(step * stride + 0.5)); };
  for (int step = 0; step < stop; ++step) {
    cost += alive(step) * run.epoch_cost * stride;
    // Bayes' rule for the arm's mean after one run that ended in the middle of the step.
    const double seen = std::log((step + 0.5) * stride + 0.5);
    const double left = 1.0 / (1.0 / variance + 1.0 / noise);
    const double learned = left * (mean / variance + seen / noise);
    // The expected epochs of a run of the arm afterwards, at least one; as a cost relative to the fallback.
    const double ratio = std::exp(std::max(learned + 0.5 * (left + noise), 0.0)) * run.epoch_cost / run.fallback;
    // A second run would move the logarithm of that by this standard deviation; the expectation stays.
    const double moves = left / std::sqrt(left + noise);
    const double at_once = run.horizon * std::max(0.0, 1.0 - ratio);
    const double hope =
        expectation([&](double z) { return std::max(0.0, 1.0 - ratio * std::exp(moves * z - 0.5 * moves * moves)); });
    const double once_more = run.horizon * hope - std::max(0.0, ratio - 1.0);
    cost -= (alive(step) - alive(step + 1)) * run.fallback * std::max(at_once, once_more);
  }
  cost += alive(stop) / alive(0) * (run.fallback + run.start);
  return run.fallback - cost;
}

struct Best {
  double value = 0.0;
  int stop = 0;
};

// Backward induction and the best of all stops agree if the run is certain to begin.
Best best_stop(const ExploratoryRun& run, const EpochBelief& belief, int stride, int steps) {
  Best best{.value = -1e300};
  for (int stop = 1; stop <= steps; ++stop) {
    const double value = value_of_stopping(run, belief, stride, stop);
    if (value > best.value) {
      best = {.value = value, .stop = stop};
    }
  }
  return best;
}

TEST(ExploratoryRun, HasTheValueOfTheBestStop) {
  const EpochBelief belief = about_two_arms();
  for (const double epoch_cost : {0.3, 0.7, 1.0, 1.4}) {
    for (const double horizon : {2.0, 16.0, 100.0}) {
      const ExploratoryRun run{
          .arm = 1, .epoch_cost = epoch_cost, .fallback = 15.0, .horizon = horizon, .most_epochs = 25};
      const Best expected = best_stop(run, belief, 1, 25);
      const ExploratoryValue found = value_of(run, belief);
      EXPECT_NEAR(found.value, expected.value, 1e-3 * run.fallback) << epoch_cost << " " << horizon;
      EXPECT_EQ(found.max_epochs, expected.stop) << epoch_cost << " " << horizon;
    }
  }
}

TEST(ExploratoryRun, AStoppedRunPaysForAnotherStart) {
  const EpochBelief belief = about_two_arms();
  ExploratoryRun run{.arm = 1, .epoch_cost = 0.7, .fallback = 15.0, .start = 0.0, .horizon = 16.0, .most_epochs = 25};
  const ExploratoryValue without = value_of(run, belief);
  run.start = 8.0;
  const Best expected = best_stop(run, belief, 1, 25);
  const ExploratoryValue found = value_of(run, belief);
  EXPECT_NEAR(found.value, expected.value, 1e-3 * run.fallback);
  EXPECT_EQ(found.max_epochs, expected.stop);
  EXPECT_LT(found.value, without.value);
  EXPECT_GE(found.max_epochs, without.max_epochs) << "a start makes giving up more expensive";
}

// Runs longer than 32 epochs are stopped on a grid of at most 32 points: of 100 epochs every fourth, 25 points; of 33
// every second, 16 points.
TEST(ExploratoryRun, StopsOfLongRunsLieOnAGrid) {
  const EpochBelief belief = about_two_arms();
  for (const auto& [most, stride, steps] : {std::array{32, 1, 32}, std::array{33, 2, 16}, std::array{100, 4, 25}}) {
    const ExploratoryRun run{.arm = 1, .epoch_cost = 0.5, .fallback = 15.0, .horizon = 30.0, .most_epochs = most};
    const Best expected = best_stop(run, belief, stride, steps);
    const ExploratoryValue found = value_of(run, belief);
    EXPECT_NEAR(found.value, expected.value, 1e-3 * run.fallback) << most;
    EXPECT_EQ(found.max_epochs, expected.stop * stride) << most;
  }
}

TEST(ExploratoryRun, ARunWithoutAnEpochTeachesNothing) {
  const ExploratoryValue found =
      value_of({.arm = 1, .epoch_cost = 0.5, .fallback = 15.0, .horizon = 30.0, .most_epochs = 0}, about_two_arms());
  EXPECT_EQ(found.value, -15.0);
  EXPECT_EQ(found.max_epochs, 0);
}

// An arm that costs a thousand times as much is stopped after one epoch, the minimum for a try, and pays for that
// epoch.
TEST(ExploratoryRun, AnExpensiveArmIsStoppedAfterOneEpoch) {
  const ExploratoryValue found = value_of(
      {.arm = 1, .epoch_cost = 1000.0, .fallback = 15.0, .horizon = 16.0, .most_epochs = 20}, about_two_arms());
  EXPECT_EQ(found.max_epochs, 1);
  EXPECT_LT(found.value, -900.0);
}

// With little noise, one run shows what the arm needs, and a second run would not move the estimate.
TEST(ExploratoryRun, WithoutNoiseASecondRunIsWorthNothing) {
  const EpochBelief belief = about_two_arms(0.02);
  const ExploratoryRun run{.arm = 1, .epoch_cost = 0.6, .fallback = 15.0, .horizon = 20.0, .most_epochs = 30};
  const Best expected = best_stop(run, belief, 1, 30);
  EXPECT_NEAR(value_of(run, belief).value, expected.value, 1e-2 * run.fallback);
  EXPECT_EQ(value_of(run, belief).max_epochs, expected.stop);
}

// E[(fallback - cost)+], where the logarithm of the mean cost is normal.
TEST(PossibleImprovement, IsTheExpectedSavingUnderFullKnowledge) {
  const EpochBelief belief = about_two_arms();
  for (const double log_cost : {-1.0, 0.0, 1.5}) {
    for (const double fallback : {5.0, 15.0, 40.0}) {
      const double centre = log_cost + belief.mean(1) + 0.5 * belief.noise(1);
      const double deviation = std::sqrt(belief.variance(1));
      const double expected =
          expectation([&](double z) { return std::max(0.0, fallback - std::exp(centre + deviation * z)); });
      EXPECT_NEAR(possible_improvement(belief, 1, log_cost, fallback), expected, 1e-4 * fallback);
    }
  }
}

// Three of four runs reach the target, and the belief is nearly certain: the waste is a third of the allowed epochs for
// each run that reaches it.
TEST(ExploratoryRun, RunsThatMissWasteAllTheirEpochs) {
  EXPECT_NEAR(wasted_epochs(3.0, 1.0, 0.0, 0.01, 12), 12.0 / 4.0, 1e-9)
      << "the run that the belief counts as reaches the target";
  EXPECT_NEAR(wasted_epochs(3.0, 1.0, 20.0, 0.01, 12), 2.0 * 12.0 / 3.0, 1e-9)
      << "the run that the belief counts as misses the target";
  EXPECT_NEAR(wasted_epochs(0.0, 0.0, std::log(12.5), 0.01, 12), 12.0, 1e-9)
      << "as likely to reach the target as to miss it";
  EXPECT_NEAR(wasted_epochs(9.0, 0.0, 0.0, 0.01, 12), 0.0, 1e-9);
}

}  // namespace
}  // namespace zeus::optimize
