#include "research/profiling_run.hpp"

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/power_limit/full_sweep.hpp"
#include "optimize/power_limit/goal_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace zeus::research {
namespace {

constexpr double equal_weight = 0.5;

const TrainingLoad speech_load{.gpu = &physics::preset("V100"),
                               .demand = physics::Demand::of_work(0.75, 0.85, 0.2),
                               .step = 1_s,
                               .steps_per_epoch = 10'000};

optimize::SettingRange range_of(const TrainingLoad& load) {
  return optimize::SettingRange::of_steps(load.gpu->limits.min, load.gpu->limits.max, 25_W);
}

ProfilingOutcome profile(const TrainingLoad& load, bool adaptive, std::uint64_t seed) {
  const optimize::SettingRange range = range_of(load);
  const optimize::PlanWish wish{
      .goal = LeastCost{},
      .profiling = adaptive ? PowerProfiling{AdaptiveProfiling{}} : PowerProfiling{SweepProfiling{}},
      .cost = optimize::EnergyTimeCost{equal_weight, load.gpu->limits.max},
      .training_steps = {},
      .known = {},
      .predicted_from = {}};
  optimize::Profiler profiler{optimize::make_plan(range, wish), {.baseline = range.highest()}};
  return run_profiling(load, profiler, Disturbance{}, seed);
}

// The cost of a step at the choice, relative to the cheapest limit.
double cost_ratio(const TrainingLoad& load, const records::PowerSetting& chosen) {
  const optimize::EnergyTimeCost cost{equal_weight, load.gpu->limits.max};
  Joules best = cost.of_epoch(settled_step(load, chosen));
  const Joules ours = best;
  const optimize::SettingRange range = range_of(load);
  for (const Watts limit : range.limits()) {
    best = std::min(best, cost.of_epoch(settled_step(load, {.limit = limit, .clock = std::nullopt})));
  }
  return ours / best;
}

TEST(ProfilingRun, TheAdaptivePlanComesWithinAPercentOfTheBestAndSavesMostSteps) {
  for (const physics::GpuModel& gpu : physics::presets()) {
    TrainingLoad load = speech_load;
    load.gpu = &gpu;
    const double all = 50.0 * static_cast<double>(range_of(load).limits().size());
    int good = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ProfilingOutcome outcome = profile(load, true, seed);
      good += cost_ratio(load, *outcome.optimum) <= 1.01 ? 1 : 0;
      EXPECT_LE(static_cast<double>(outcome.steps), 0.6 * all) << gpu.name();
    }
    EXPECT_GE(good, 19) << gpu.name();
  }
}

TEST(ProfilingRun, TheFullSweepTakesFiftyStepsALimit) {
  const ProfilingOutcome outcome = profile(speech_load, false, 1);
  EXPECT_EQ(outcome.steps, 351U);
  EXPECT_LE(cost_ratio(speech_load, *outcome.optimum), 1.01);
}

TEST(ProfilingRun, IsAFunctionOfItsSeed) {
  EXPECT_EQ(profile(speech_load, true, 4).time, profile(speech_load, true, 4).time);
  EXPECT_NE(profile(speech_load, true, 4).time, profile(speech_load, true, 5).time);
}

TEST(ProfilingRun, FindsTheBestEvenInShortEpochs) {
  TrainingLoad load = speech_load;
  load.steps_per_epoch = 7;
  const ProfilingOutcome outcome = profile(load, true, 1);
  ASSERT_TRUE(outcome.optimum);
  EXPECT_LE(cost_ratio(load, *outcome.optimum), 1.02);
}

TEST(ProfilingRun, ReadsTheTrueValuesWithoutDisturbance) {
  const TrainingLoad load = speech_load;
  const optimize::SettingRange range{{250_W}};
  auto plan = std::make_unique<optimize::FullSweep>(range, optimize::select_energy(),
                                                    optimize::FullSweepOptions{.settle = 2000, .measure = 200});
  optimize::Profiler profiler{std::move(plan), {.baseline = range.highest()}};
  static_cast<void>(run_profiling(load, profiler, {.scatter = 0.0, .drift = 0.0}, 1));
  const records::PowerMeasurement measured = profiler.measurements().front();
  const records::LimitProfile truth = settled_step(load, range.highest());
  EXPECT_NEAR(measured.step_time / truth.epoch_time, 1.0, 1e-3);
  EXPECT_NEAR(measured.step_energy.value / (truth.average_power * truth.epoch_time), 1.0, 2e-3);
}

}  // namespace
}  // namespace zeus::research
