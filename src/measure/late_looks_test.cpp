// Windows on a machine that is so busy that the sampler is held up again and again.
#include "tests/support/accuracy_experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus {
namespace {

struct LateLooks {
  const char* model;
  double late_ms;  // on average, every third look

  friend std::ostream& operator<<(std::ostream& out, const LateLooks& looks) {
    return out << looks.model << ", " << looks.late_ms << " ms late";
  }
};

class EdgeAccuracyOfALateLooker : public testing::TestWithParam<LateLooks> {};

TEST_P(EdgeAccuracyOfALateLooker, TheIntervalHoldsTheTrueEnergyAndIsHardlyWider) {
  constexpr int windows = 400;
  for (const double period_ms : {0.0, 1300.0}) {
    for (const double window_ms : {53.0, 1070.0}) {
      SCOPED_TRACE(testing::Message() << period_ms << " ms, " << window_ms << " ms");
      test::AccuracySetting setting{.model = physics::preset(GetParam().model),
                                    .low = Watts{period_ms == 0 ? 200.0 : 80.0},
                                    .high = Watts{period_ms == 0 ? 200.0 : 300.0},
                                    .period = Milliseconds{period_ms},
                                    .window = Milliseconds{window_ms},
                                    .windows = windows};
      const auto in_time = test::measure_accuracy(setting);
      setting.late = Milliseconds{GetParam().late_ms};
      const auto late = test::measure_accuracy(setting);
      EXPECT_GT(late.settled.coverage, 0.95 - 3 * std::sqrt(0.95 * 0.05 / windows));
      EXPECT_LT(late.settled.half_width, in_time.settled.half_width * 3.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, EdgeAccuracyOfALateLooker,
                         testing::Values(LateLooks{"A100", 5}, LateLooks{"A100", 20}, LateLooks{"A100", 50},
                                         LateLooks{"V100", 5}, LateLooks{"V100", 20}));

}  // namespace
}  // namespace zeus
