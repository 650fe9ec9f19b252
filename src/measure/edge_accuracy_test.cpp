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
