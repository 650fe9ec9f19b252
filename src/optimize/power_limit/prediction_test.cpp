#include "optimize/power_limit/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace zeus::optimize {
namespace {

const EnergyTimeCost price{0.5, 300_W};
const PowerSetting found_setting{.limit = 300_W, .clock = {}};
const PowerSetting best_setting{.limit = 200_W, .clock = {}};

// At 200 W a step takes a quarter longer and three quarters of the energy.
PowerProfile profile(double doubt = 0) {
  return {.gpu = {},
          .complete = true,
          .measurements = {{.setting = found_setting,
                            .steps = 100,
                            .step_time = 1_s,
                            .step_time_uncertainty = 1_s * doubt,
                            .step_energy = {.value = 240_J, .uncertainty = 240_J * doubt},
                            .capped = {}},
                           {.setting = best_setting,
                            .steps = 100,
                            .step_time = 1.25_s,
                            .step_time_uncertainty = 1.25_s * doubt,
                            .step_energy = {.value = 180_J, .uncertainty = 180_J * doubt},
                            .capped = {}}}};
}

// 80 steps at the setting found, 20 in slices, and an evaluation of 50 s at `rest`.
ObservedRun run(Watts rest = 60_W) {
  return {.steps = {.time = 88_s, .energy = Energy{.value = 20'000_J}, .steps = 80},
          .slices = {.time = 30_s, .energy = Energy{.value = 5'000_J}, .steps = 20},
          .rest = {.time = 50_s, .energy = Energy{.value = rest * 50_s}, .steps = 0},
          .found = found_setting,
          .gpus = 1};
}

std::optional<TrainingPrediction> predicted(const ObservedRun& observed, const PowerProfile& known = profile(),
                                            const std::optional<PowerSetting>& optimum = best_setting) {
  std::string why_not;
  const std::optional<TrainingPrediction> result = predict(observed, known, optimum, price, why_not);
  EXPECT_EQ(why_not.empty(), result.has_value());
  return result;
}

TEST(Prediction, ScalesTheRunsOwnStepsByTheRatioOfTheTwoProfiledSettings) {
  const std::optional<TrainingPrediction> would = predicted(run());
  ASSERT_TRUE(would);
  EXPECT_EQ(would->setting, best_setting);
  // 100 steps of 1.1 s and 250 J become a quarter longer and take three quarters of the energy; the evaluation stays.
  EXPECT_NEAR(would->time.value(), 110 * 1.25 + 50, 1e-9);
  EXPECT_NEAR(would->energy.value.value(), 25'000 * 0.75 + 3'000, 1e-6);
  EXPECT_NEAR(would->cost.value(), 0.5 * would->energy.value.value() + 150 * would->time.value(), 1e-6);
}

TEST(Prediction, WorkBetweenStepsIsSlowedTooIfItDrawsMoreThanTheOptimumAllows) {
  // 95 % of 200 W are 190 W.
  EXPECT_NEAR(predicted(run(189_W))->time.value(), 137.5 + 50, 1e-9);
  EXPECT_NEAR(predicted(run(191_W))->time.value(), 137.5 + 62.5, 1e-9);
  EXPECT_NEAR(predicted(run(191_W))->energy.value.value(), 18'750 + 191 * 50 * 0.75, 1e-6);
  ObservedRun of_two = run(191_W);
  of_two.gpus = 2;
  EXPECT_NEAR(predicted(of_two)->time.value(), 137.5 + 50, 1e-9) << "95.5 W each";
}

TEST(Prediction, UsesTheProfileIfAllStepsWereInSlices) {
  ObservedRun all_in_slices = run();
  all_in_slices.steps = {.time = {}, .energy = Energy{}, .steps = 0};
  EXPECT_NEAR(predicted(all_in_slices)->time.value(), 20 * 1.25 + 50, 1e-9);
  EXPECT_NEAR(predicted(all_in_slices)->energy.value.value(), 20 * 180 + 3'000, 1e-6);
}

TEST(Prediction, ComparesWithTheRunsOwnStepsIfItsSettingsVaried) {
  ObservedRun mixed = run();
  mixed.found.reset();
  // 80 steps of 1.1 s and 250 J become 1.25 s and 180 J.
  EXPECT_NEAR(predicted(mixed)->time.value(), 125 + 50, 1e-9);
  EXPECT_NEAR(predicted(mixed)->energy.value.value(), 18'000 + 3'000, 1e-6);
}

TEST(Prediction, ChangesNothingForARunAtTheOptimum) {
  EXPECT_NEAR(predicted(run(), profile(0.1), found_setting)->time.value(), 110 + 50, 1e-9);
  EXPECT_NEAR(predicted(run(), profile(0.1), found_setting)->time_uncertainty.value(), 160 * 0.001, 1e-9)
      << "no ratio, and no uncertainty of one";
}

TEST(Prediction, AddsTheUncertaintyOfBothSettings) {
  // Two uncertainties of 20 % make 28.28 % of the steps' time, and 0.1 % of everything is unknown to any profile.
  const TrainingPrediction would = *predicted(run(), profile(0.2));
  EXPECT_NEAR(would.time_uncertainty.value(), 137.5 * 0.2 * 1.41421356 + 187.5 * 0.001, 1e-6);
  EXPECT_NEAR(would.energy.uncertainty.value(), 18'750 * 0.2 * 1.41421356 + 21'750 * 0.001, 1e-4);
}

TEST(Prediction, CountsThatStepsScatterWhereEachSliceIsExact) {
  const TrainingPrediction would = *predicted(run(), profile(0.0001));
  EXPECT_GT(would.time_uncertainty, 0.02 * 137.5_s) << "two settings alone cannot show how far";
  EXPECT_GT(would.energy.uncertainty, 0.02 * 18'750_J);
}

TEST(Prediction, IncludesTheUncertaintyOfTheMeasurement) {
  ObservedRun measured = run();
  // 4,000 J over 80 steps are 3,750 J over a hundred at three quarters of the energy.
  const double without = predicted(run())->energy.uncertainty.value();
  measured.steps.energy->uncertainty = 4000_J;
  EXPECT_NEAR(predicted(measured)->energy.uncertainty.value(), std::hypot(3750, without), 1e-6);
}

TEST(Prediction, UsesTheOptimumItselfIfAllStepsWereInSlicesAndSettingsVaried) {
  ObservedRun all_in_slices = run();
  all_in_slices.steps = {.time = {}, .energy = Energy{}, .steps = 0};
  all_in_slices.found.reset();
  EXPECT_NEAR(predicted(all_in_slices)->time.value(), 20 * 1.25 + 50, 1e-9);
  EXPECT_NEAR(predicted(all_in_slices)->energy.value.value(), 20 * 180 + 3'000, 1e-6);
}

TEST(Prediction, HalfASecondBetweenStepsIsSlowedToo) {
  ObservedRun brief = run();
  brief.rest = {.time = 0.5_s, .energy = Energy{.value = 191_W * 0.5_s}, .steps = 0};
  EXPECT_NEAR(predicted(brief)->time.value(), 137.5 + 0.5 * 1.25, 1e-9);
}

TEST(Prediction, TheUncertaintyOfItsCostIncludesThoseOfEnergyAndTime) {
  const TrainingPrediction would = *predicted(run(), profile(0.01));
  EXPECT_NEAR(would.cost_uncertainty.value(),
              std::hypot(0.5 * would.energy.uncertainty.value(), 150 * would.time_uncertainty.value()), 1e-6);
}

TEST(Prediction, ReportsWhyThereIsNone) {
  const auto why = [](const ObservedRun& observed, const std::optional<PowerSetting>& optimum) {
    std::string why_not;
    EXPECT_FALSE(predict(observed, profile(), optimum, price, why_not));
    return why_not;
  };
  EXPECT_EQ(why(run(), {}), "no profile is complete");
  EXPECT_EQ(why(run(), PowerSetting{.limit = 123_W, .clock = {}}), "no profile is complete");
  ObservedRun unmeasured = run();
  unmeasured.rest.energy.reset();
  EXPECT_EQ(why(unmeasured, best_setting), "the energy of the run is not known");
  ObservedRun idle = run();
  idle.steps.steps = 0;
  idle.slices.steps = 0;
  EXPECT_EQ(why(idle, best_setting), "there were no steps");
}

}  // namespace
}  // namespace zeus::optimize
