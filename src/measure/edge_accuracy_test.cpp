#include "tests/support/accuracy_experiment.hpp"

#include <gtest/gtest.h>

namespace zeus {
namespace {

struct Case {
  double period_ms;
  double settled_limit;
  double immediate_limit;
};

// A smaller run of bench/measure_accuracy, held to the same limits of error.
class EdgeAccuracy : public testing::TestWithParam<Case> {};

TEST_P(EdgeAccuracy, IsAFractionOfThePlainDifferencesErrorAndKnowsItsDoubt) {
  const Case& given = GetParam();
  const bool constant = given.period_ms == 0;
  for (const double window_ms : {53.0, 230.0, 1070.0}) {
    for (const bool cold : {false, true}) {
      SCOPED_TRACE(testing::Message() << window_ms << " ms" << (cold ? ", cold" : ""));
      const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                  .low = Watts{constant ? 200.0 : 80.0},
                                                  .high = Watts{constant ? 200.0 : 300.0},
                                                  .period = Milliseconds{given.period_ms},
                                                  .window = Milliseconds{window_ms},
                                                  .windows = 300,
                                                  .cold = cold});
      EXPECT_LT(result.settled.error, given.settled_limit);
      EXPECT_LT(result.immediate.error, given.immediate_limit);
      EXPECT_GT(result.settled.coverage, 0.9);
      EXPECT_GT(result.immediate.coverage, 0.87);
      EXPECT_LT(result.settled.half_width, 1.4);
      EXPECT_LT(result.immediate.half_width, 1.4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loads, EdgeAccuracy,
                         testing::Values(Case{0, 0.05, 0.05}, Case{37, 0.18, 0.35}, Case{200, 0.35, 0.8},
                                         Case{1300, 0.15, 0.35}));

TEST(EdgeAccuracyOfAPartTimeCounter, TheIntervalHoldsTheTruthAllTheSame) {
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

struct FirstCase {
  const char* model;
  double window_ms;
  bool samples;
  double width_limit;
};

// The tick before the first reading was not seen, and the load began somewhere between the two, or between it and the
// next.
class EdgeAccuracyOfFirstWindows : public testing::TestWithParam<FirstCase> {};

TEST_P(EdgeAccuracyOfFirstWindows, TheIntervalHoldsALoadThatHasJustBegun) {
  const FirstCase& given = GetParam();
  const auto settled = test::measure_first_windows(
      {.model = physics::preset(given.model), .window = Milliseconds{given.window_ms}, .samples = given.samples});
  EXPECT_GT(settled.coverage, 0.93);
  EXPECT_LT(settled.half_width, given.width_limit);
}

INSTANTIATE_TEST_SUITE_P(Cards, EdgeAccuracyOfFirstWindows,
                         testing::Values(FirstCase{"A100", 20, true, 1}, FirstCase{"A100", 53, true, 1},
                                         FirstCase{"V100", 20, true, 1}, FirstCase{"A100", 20, false, 2},
                                         FirstCase{"A100", 53, false, 2}));

// Waves in step with the ticks look alike in every one: what looks like a level may be a mixture.
TEST(EdgeAccuracyInStepWithTheTicks, ALevelThatIsNoneIsNotBelieved) {
  for (const double period_ms : {50.0, 100.0}) {
    SCOPED_TRACE(period_ms);
    const auto result = test::measure_accuracy({.model = physics::preset("A100"),
                                                .low = 80_W,
                                                .high = 300_W,
                                                .period = Milliseconds{period_ms},
                                                .window = Milliseconds{1070},
                                                .windows = 300});
    EXPECT_GT(result.settled.coverage, 0.88);
  }
}

}  // namespace
}  // namespace zeus
