#include "optimize/power_limit/goal_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace zeus::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const SettingRange four_limits{{300_W, 250_W, 200_W, 150_W}};

// A step that always takes the same, though each slice reports it only to within `doubt`.
struct SteadyStep {
  Seconds time;
  Watts power;
};
const std::map<Watts, SteadyStep> steady_steps{
    {300_W, {1_s, 280_W}}, {250_W, {1.02_s, 248_W}}, {200_W, {1.06_s, 199_W}}, {150_W, {1.5_s, 150_W}}};

std::vector<SliceRequest> play(PowerLimitPlan& plan, double doubt = 0.001) {
  std::vector<SliceRequest> asked;
  std::uint64_t begin = 0;
  while (const std::optional<SliceRequest> request = plan.next()) {
    if (asked.size() > 500) {
      ADD_FAILURE() << "the plan does not end";
      break;
    }
    asked.push_back(*request);
    const SteadyStep& step = steady_steps.at(request->setting.limit);
    const Seconds time = step.time * static_cast<double>(request->measure);
    const Joules energy = step.power * time;
    begin += request->settle;
    plan.measured({.setting = request->setting,
                   .measure = request->measure,
                   .begin = begin,
                   .reading = {.time = time,
                               .time_uncertainty = time * doubt,
                               .energy = {.value = energy, .uncertainty = energy * doubt},
                               .capped = 1.0}});
    begin += request->measure;
  }
  return asked;
}

PlanWish wish(const PowerGoal& goal = LeastCost{}) {
  return {.goal = goal,
          .profiling = AdaptiveProfiling{},
          .cost = EnergyTimeCost{0.5, 300_W},
          .training_steps = {},
          .known = {},
          .predicted_from = {}};
}

TEST(GoalPlan, ASweepMeasuresEveryLimitOnceAndChoosesByTheGoal) {
  PlanWish swept = wish(LeastEnergy{});
  swept.profiling = SweepProfiling{.settle = 3, .measure = 7};
  const auto plan = make_plan(four_limits, swept);
  const std::vector<SliceRequest> asked = play(*plan);
  EXPECT_THAT(asked, ElementsAre(SliceRequest{{300_W, {}}, 3, 7}, SliceRequest{{250_W, {}}, 3, 7},
                                 SliceRequest{{200_W, {}}, 3, 7}, SliceRequest{{150_W, {}}, 3, 7}));
  // 280, 253, 211 and 225 J.
  EXPECT_EQ(plan->optimum()->limit, 200_W);
}

TEST(GoalPlan, ACompleteProfileDecidesWithoutASliceForAnyKindOfProfiling) {
  const auto first = make_plan(four_limits, wish());
  static_cast<void>(play(*first));
  PlanWish again = wish();
  again.known = PowerProfile{.gpu = {}, .complete = true, .measurements = first->measurements()};
  EXPECT_THAT(play(*make_plan(four_limits, again)), IsEmpty());
  again.profiling = SweepProfiling{};
  const auto second = make_plan(four_limits, again);
  EXPECT_THAT(play(*second), IsEmpty());
  EXPECT_EQ(second->optimum(), first->optimum());
  again.known->complete = false;
  EXPECT_EQ(play(*make_plan(four_limits, again)).size(), 4U) << "a sweep starts again";
}

TEST(GoalPlan, MeasuresThePredictedSettingsUntilTheyAreKnownWell) {
  // Each slice is accurate to 3 %: one is not enough, sixteen are.
  const auto counted = [](const PlanWish& wished) {
    std::map<Watts, int> counts;
    for (const SliceRequest& request : play(*make_plan(four_limits, wished), 0.03)) {
      ++counts[request.setting.limit];
    }
    return counts;
  };
  PlanWish observing = wish();
  const std::map<Watts, int> without = counted(observing);
  observing.predicted_from = PowerSetting{.limit = 300_W, .clock = {}};
  const std::map<Watts, int> with = counted(observing);
  EXPECT_GT(with.at(300_W), without.at(300_W));
  // There is nothing to compare if the choice is the setting already in force.
  PlanWish fastest = wish(LeastTime{});
  const std::map<Watts, int> same = counted(fastest);
  fastest.predicted_from = PowerSetting{.limit = 300_W, .clock = {}};
  EXPECT_EQ(counted(fastest), same);
}

TEST(GoalPlan, AShortTrainingGetsShortSlicesAndKeepsAQuarterOfItsSteps) {
  PlanWish brief = wish();
  for (const std::uint64_t all : {40U, 80U, 120U}) {
    brief.training_steps = all;
    std::uint64_t taken = 0;
    std::vector<std::uint32_t> measured;
    for (const SliceRequest& request : play(*make_plan(four_limits, brief))) {
      taken += request.settle + request.measure;
      measured.push_back(request.measure);
    }
    EXPECT_EQ(measured.front(), 2U);
    EXPECT_LE(taken, all * 3 / 4) << all;
  }
  // 30 steps for each of the four limits are three quarters of 160 steps: from there on, a training is not short.
  brief.training_steps = 160;
  EXPECT_EQ(make_plan(four_limits, brief)->next(), make_plan(four_limits, wish())->next());
}

// Three quarters of 120 steps are 90. Uncertain settings are measured again for as long as any of these are left; the
// last slice may take ten steps more, and those to settle.
TEST(GoalPlan, AShortTrainingLimitsFurtherMeasurements) {
  PlanWish brief = wish();
  brief.training_steps = 120;
  brief.predicted_from = PowerSetting{.limit = 300_W, .clock = {}};
  std::uint64_t taken = 0;
  for (const SliceRequest& request : play(*make_plan(four_limits, brief), 0.03)) {
    taken += request.settle + request.measure;
  }
  EXPECT_LE(taken, 110U);
}

TEST(GoalPlan, ARefusedSettingIsNotRequestedAgain) {
  const PlanWish bounded = wish(MaxSlowdown{.factor = 1.05});
  const auto plan = make_plan(four_limits, bounded);
  plan->refused({.limit = 250_W, .clock = {}});
  for (const SliceRequest& request : play(*plan, 0.02)) {
    EXPECT_NE(request.setting.limit, 250_W);
  }
  EXPECT_EQ(plan->optimum()->limit, 300_W);
}

TEST(GoalPlan, WarmsUpForTheRequestedSteps) {
  PlanWish wished = wish();
  wished.profiling = AdaptiveProfiling{.tolerance = 0.01, .warm_up = 17};
  EXPECT_EQ(make_plan(four_limits, wished)->next()->settle, 17U);
}

TEST(GoalPlan, MeasuresLessForAWiderTolerance) {
  const auto steps_for = [](double tolerance) {
    PlanWish wished = wish();
    wished.profiling = AdaptiveProfiling{.tolerance = tolerance, .warm_up = 0};
    std::uint64_t steps = 0;
    for (const SliceRequest& request : play(*make_plan(four_limits, wished), 0.03)) {
      steps += request.measure;
    }
    return steps;
  };
  EXPECT_LT(steps_for(0.2), steps_for(0.01));
}

TEST(GoalPlan, MeasuresTheMostUncertainSettingFirst) {
  const auto known_to = [](Watts limit, double doubt) {
    const SteadyStep& step = steady_steps.at(limit);
    const Joules energy = step.power * step.time;
    return PowerMeasurement{.setting = {.limit = limit, .clock = {}},
                            .steps = 50,
                            .step_time = step.time,
                            .step_time_uncertainty = step.time * doubt,
                            .step_energy = {.value = energy, .uncertainty = energy * doubt},
                            .capped = 1.0};
  };
  PlanWish compared = wish(LeastEnergy{});
  compared.predicted_from = PowerSetting{.limit = 300_W, .clock = {}};
  compared.known =
      PowerProfile{.gpu = {}, .complete = true, .measurements = {known_to(300_W, 0.02), known_to(200_W, 0.04)}};
  EXPECT_EQ(make_plan(four_limits, compared)->next()->setting.limit, 200_W);
  compared.known->measurements = {known_to(300_W, 0.04), known_to(200_W, 0.02)};
  EXPECT_EQ(make_plan(four_limits, compared)->next()->setting.limit, 300_W);
}

}  // namespace
}  // namespace zeus::optimize
