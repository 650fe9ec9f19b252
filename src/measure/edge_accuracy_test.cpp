#include "tests/support/accuracy_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus {
namespace {

// The least coverage to accept if each interval contains the true energy with 95 %: three standard errors less.
double least_coverage(int windows) {
  return 0.95 - 3 * std::sqrt(0.95 * 0.05 / windows);
}

// The least Accuracy::needed to accept of intervals of the right width: 1 minus three standard errors of the 95 %
// quantile of normal errors, in units of that quantile. Intervals that are 40 % too wide need a factor of only 0.71.
double least_needed(int windows) {
  constexpr double density_at_the_quantile = 0.2291;
  return 1 - 3 * std::sqrt(0.95 * 0.05 / windows) / density_at_the_quantile;
}

enum class Shape { constant, wave, irregular };

struct Load {
  const char* name;
  Shape shape;
  double period_ms;
  double settled_limit;
  double immediate_limit;
  bool errors_cancel;  // between the edges of windows of many even waves, which the interval cannot know beforehand

  friend std::ostream& operator<<(std::ostream& out, const Load& load) { return out << load.name; }
};

class EdgeAccuracy : public testing::TestWithParam<Load> {};

// A smaller run of bench/measure_accuracy, held to the same limits of error.
TEST_P(EdgeAccuracy, HasAFractionOfThePlainDifferencesErrorAndAnHonestInterval) {
  constexpr int windows = 300;
  const Load& load = GetParam();
  const bool constant = load.shape == Shape::constant;
  for (const double window_ms : {53.0, 230.0, 1070.0}) {
    for (const bool cold : {false, true}) {
      SCOPED_TRACE(testing::Message() << window_ms << " ms" << (cold ? ", cold" : ""));
      const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                  .low = Watts{constant ? 200.0 : 80.0},
                                                  .high = Watts{constant ? 200.0 : 300.0},
                                                  .period = Milliseconds{load.period_ms},
                                                  .irregular = load.shape == Shape::irregular,
                                                  .window = Milliseconds{window_ms},
                                                  .windows = windows,
                                                  .cold = cold});
      EXPECT_LT(result.settled.error, load.settled_limit);
      EXPECT_LT(result.immediate.error, load.immediate_limit);
      EXPECT_GT(result.settled.coverage, least_coverage(windows));
      EXPECT_GT(result.immediate.coverage, least_coverage(windows));
      if (!load.errors_cancel || window_ms < load.period_ms * 2) {
        // A cold 53 ms window under an irregular load: a tick was placed unseen, with a bracket wider than it mostly
        // needs.
        const bool seldom_far_off = load.shape == Shape::irregular && cold && window_ms < 100;
        EXPECT_GT(result.settled.needed, seldom_far_off ? 0.75 : least_needed(windows));
        EXPECT_LT(result.immediate.half_width, result.plain * (load.immediate_limit * 3));
      }
      if (load.shape == Shape::irregular) {
        EXPECT_LT(result.settled.width, 1.5);
        EXPECT_LT(result.immediate.width, 1.5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loads, EdgeAccuracy,
                         testing::Values(Load{"a constant load", Shape::constant, 0, 0.05, 0.05, false},
                                         Load{"a fast wave", Shape::wave, 37, 0.18, 0.35, true},
                                         Load{"a wave in step with the ticks", Shape::wave, 200, 0.35, 0.8, false},
                                         Load{"a slow wave", Shape::wave, 1300, 0.15, 0.35, false},
                                         Load{"slow steps to any power", Shape::irregular, 400, 0.15, 0.35, false}));

// Steps that come more often than ticks add up like a random walk between two ticks, and stray less than a wave would.
TEST(EdgeAccuracyOfQuickSteps, TheIntervalIsHardlyWiderThanTheErrors) {
  constexpr int windows = 1000;
  for (const bool cold : {false, true}) {
    SCOPED_TRACE(cold);
    const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                .low = 80_W,
                                                .high = 300_W,
                                                .period = 30_ms,
                                                .irregular = true,
                                                .window = 230_ms,
                                                .windows = windows,
                                                .cold = cold});
    EXPECT_GT(result.settled.coverage, least_coverage(windows));
    EXPECT_LT(result.settled.width, 1.4);
    EXPECT_LT(result.settled.error, 0.12);
  }
}

// Totals over several GPUs, whatever they have in common.
TEST(EdgeAccuracyOfTotals, TheIntervalHoldsTheTrueEnergyAndIsHardlyWiderThanTheErrors) {
  constexpr int windows = 150;
  for (const bool in_step : {true, false}) {
    for (const bool ticks_together : {true, false}) {
      for (const double period_ms : {0.0, -30.0, -100.0}) {
        SCOPED_TRACE(testing::Message() << period_ms << " ms, " << in_step << ticks_together);
        const bool constant = period_ms == 0;
        const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                    .low = Watts{constant ? 200.0 : 80.0},
                                                    .high = Watts{constant ? 200.0 : 300.0},
                                                    .period = Milliseconds{std::abs(period_ms)},
                                                    .irregular = !constant,
                                                    .window = 230_ms,
                                                    .windows = windows,
                                                    .late = 5_ms,
                                                    .gpus = 4,
                                                    .ticks_together = ticks_together,
                                                    .in_step = in_step});
        EXPECT_GT(result.settled.coverage, least_coverage(windows));
        EXPECT_GT(result.immediate.coverage, least_coverage(windows));
        EXPECT_LT(result.settled.width, constant ? 2.0 : 1.5);
      }
    }
  }
}

TEST(EdgeAccuracyOfAPartTimeCounter, TheIntervalStillHoldsTheTrueEnergy) {
  physics::GpuModel model = physics::preset("A100");
  model.sensors.counter_part_time = true;
  for (const double period_ms : {37.0, 200.0, 1300.0}) {
    SCOPED_TRACE(period_ms);
    const auto result = test::measure_accuracy({.model = model,
                                                .low = 80_W,
                                                .high = 300_W,
                                                .period = Milliseconds{period_ms},
                                                .window = Milliseconds{1070},
                                                .windows = 300});
    EXPECT_GT(result.settled.coverage, 0.95);
    EXPECT_GT(result.immediate.coverage, 0.95);
  }
}

struct FirstWindow {
  const char* name;
  const char* model;
  double window_ms;
  bool samples;

  friend std::ostream& operator<<(std::ostream& out, const FirstWindow& window) { return out << window.name; }
};

// The tick before the first reading was not seen. The load began between that tick and the reading, or between the
// reading and the next tick.
class EdgeAccuracyOfFirstWindows : public testing::TestWithParam<FirstWindow> {};

TEST_P(EdgeAccuracyOfFirstWindows, TheIntervalHoldsALoadThatHasJustBegun) {
  constexpr int windows = 500;
  const FirstWindow& given = GetParam();
  const auto settled = test::measure_first_windows({.model = physics::preset(given.model),
                                                    .window = Milliseconds{given.window_ms},
                                                    .samples = given.samples,
                                                    .windows = windows});
  EXPECT_GT(settled.coverage, 0.93);
  if (given.samples) {
    EXPECT_LT(settled.width, 1.8);
  } else {
    EXPECT_GT(settled.needed, least_needed(windows));
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, EdgeAccuracyOfFirstWindows,
                         testing::Values(FirstWindow{"20 ms on an A100", "A100", 20, true},
                                         FirstWindow{"53 ms on an A100", "A100", 53, true},
                                         FirstWindow{"20 ms on a V100", "V100", 20, true},
                                         FirstWindow{"20 ms on an A100 without samples", "A100", 20, false},
                                         FirstWindow{"53 ms on an A100 without samples", "A100", 53, false}));

// A wave in step with the ticks looks the same in every tick: an apparent level may be a mixture.
TEST(EdgeAccuracyInStepWithTheTicks, ALevelThatIsNoneIsNotBelieved) {
  for (const double period_ms : {50.0, 100.0}) {
    SCOPED_TRACE(period_ms);
    const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                .low = 80_W,
                                                .high = 300_W,
                                                .period = Milliseconds{period_ms},
                                                .window = Milliseconds{1070},
                                                .windows = 300});
    EXPECT_GT(result.settled.coverage, least_coverage(300));
  }
}

}  // namespace
}  // namespace zeus
