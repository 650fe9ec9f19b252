#include "optimize/power_limit/adaptive_plan.hpp"

#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "optimize/power_limit/full_sweep.hpp"
#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace zeus::optimize {
namespace {

struct WorldStep {
  Seconds time;
  Joules energy;
  std::optional<double> capped;
};
using World = std::function<WorldStep(const records::PowerSetting&)>;

// Draws 210 W without a limit; a lower power limit slows it down, the more the lower it is.
WorldStep heavy(const records::PowerSetting& setting) {
  const double limit = setting.limit.value();
  const double power = std::min(limit, 210.0);
  const double time = 0.4 + 0.6 / portable::pow((power - 60.0) / 150.0, 1.0 / 3.0);
  return {.time = Seconds{time}, .energy = Joules{power * time}, .capped = limit < 210.0 ? 1.0 : 0.0};
}

// Draws too little for any power limit to matter; only a lower clock saves energy.
WorldStep light(const records::PowerSetting& setting) {
  const double clock = setting.clock ? setting.clock->value() / 1400.0 : 1.0;
  const double time = 0.8 + 0.2 / clock;
  const double power = 30.0 + 50.0 * clock * clock * clock;
  return {.time = Seconds{time}, .energy = Joules{power * time}, .capped = 0.0};
}

struct Trial {
  std::optional<records::PowerSetting> optimum;
  std::uint64_t steps = 0;
  std::vector<records::PowerSetting> asked;
};

Trial try_out(PowerLimitPlan& plan, const World& world, std::uint64_t seed = 1, double scatter = 0.02) {
  Random random{seed};
  Trial result;
  while (const auto request = plan.next()) {
    const WorldStep step = world(request->setting);
    result.steps += request->settle;
    SliceReading reading{.capped = step.capped};
    const std::uint64_t begin = result.steps;
    for (std::uint32_t i = 0; i < request->measure; ++i) {
      const double warmth = 1.0 - 0.05 * portable::exp(-static_cast<double>(result.steps++) / 60.0);
      const double slower = 1.0 + scatter * random.normal();
      const double hungrier = 1.0 + scatter * random.normal();
      reading.time += step.time * warmth * slower;
      reading.energy.value += step.energy * warmth * hungrier;
    }
    plan.measured({.setting = request->setting, .measure = request->measure, .begin = begin, .reading = reading});
    result.asked.push_back(request->setting);
    if (result.steps > 10'000) {
      ADD_FAILURE() << "the plan does not end";
      break;
    }
  }
  result.optimum = plan.optimum();
  return result;
}

const SettingRange seven = SettingRange::of_steps(100_W, 250_W, 25_W);
const SettingRange with_clocks{{250_W, 200_W, 150_W, 100_W}, {1400_MHz, 1200_MHz, 1000_MHz, 800_MHz, 600_MHz}};

double cost(const World& world, const records::PowerSetting& setting, double eta) {
  const WorldStep step = world(setting);
  return eta * step.energy.value() + (1.0 - eta) * 250.0 * step.time.value();
}

double best_cost(const World& world, const SettingRange& range, double eta) {
  double best = 1e300;
  for (const Watts limit : range.limits()) {
    best = std::min(best, cost(world, {.limit = limit, .clock = std::nullopt}, eta));
  }
  return best;
}

// Bound by its memory: limits save energy down to 125 W, where they begin to cost time. Steps of a millisecond, 300 in
// a slice, which are disturbed alike by what else the machine does.
TEST(AdaptivePlan, GoesOnWhereTheStepsOfASliceAreDisturbedAlike) {
  const auto step_time = [](Watts limit) {
    return 1e-3 * (1.0 + 0.25 * std::max(0.0, (125.0 - limit.value()) / 25.0));
  };
  constexpr std::uint64_t seeds = 100;
  int saved = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    AdaptivePlan plan{seven, select_zeus_cost(0.5), {.measure = 300, .most_steps = 4200}};
    Random random{seed};
    std::uint64_t steps = 1000;
    while (const auto request = plan.next()) {
      const Seconds time{step_time(request->setting.limit) * request->measure * (1.0 + 0.06 * random.normal())};
      plan.measured({.setting = request->setting,
                     .measure = request->measure,
                     .begin = steps += request->settle,
                     .reading = {.time = time, .energy = {.value = request->setting.limit * time}, .capped = 1.0}});
      steps += request->measure;
    }
    saved += plan.optimum()->limit <= 175_W ? 1 : 0;
  }
  EXPECT_GE(saved, 90);
}

TEST(AdaptivePlan, ComesWithinOnePercentOfTheBestInFewSteps) {
  for (const double eta : {0.0, 0.3, 0.5, 0.8, 1.0}) {
    int good = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      AdaptivePlan plan{seven, select_zeus_cost(eta)};
      const Trial result = try_out(plan, heavy, seed);
      good += cost(heavy, *result.optimum, eta) <= 1.01 * best_cost(heavy, seven, eta) ? 1 : 0;
      EXPECT_LE(result.steps, 210U);
    }
    EXPECT_GE(good, 57) << eta;
  }
}

TEST(AdaptivePlan, MeasuresNoLimitThatCannotWin) {
  AdaptivePlan plan{seven, select_time()};
  for (const records::PowerSetting& setting : try_out(plan, heavy).asked) {
    EXPECT_GT(setting.limit, 150_W);
  }
}

TEST(AdaptivePlan, GoesUpAndDownBetweenContenders) {
  AdaptivePlan plan{seven, select_zeus_cost(0.5), {.tolerance = 0.0005, .confidence = 0.999}};
  const Trial result = try_out(plan, heavy);
  int turns = 0;
  for (std::size_t i = 2; i < result.asked.size(); ++i) {
    const Watts before = result.asked[i - 1].limit - result.asked[i - 2].limit;
    const Watts after = result.asked[i].limit - result.asked[i - 1].limit;
    turns += before * after.value() < 0_W ? 1 : 0;
  }
  EXPECT_GE(turns + static_cast<int>(result.asked.size()) / 20, 2);
}

TEST(AdaptivePlan, ChoosesASingleLimitAfterOneSlice) {
  AdaptivePlan plan{SettingRange{{250_W}}, select_energy()};
  const Trial result = try_out(plan, heavy);
  EXPECT_EQ(result.asked.size(), 1U);
  EXPECT_EQ(result.optimum->limit, 250_W);
}

TEST(AdaptivePlan, ChoosesTheHighestOfEqualLimits) {
  AdaptivePlan plan{seven, select_zeus_cost(0.5)};
  const Trial result = try_out(
      plan, [](const records::PowerSetting&) { return WorldStep{.time = 1_s, .energy = 60_J, .capped = 0.0}; }, 1, 0.0);
  EXPECT_EQ(result.optimum->limit, 250_W);
  EXPECT_LE(result.steps, 40U);  // one measurement of the highest and one of the lowest
}

TEST(AdaptivePlan, TriesClocksIfNoLimitBinds) {
  AdaptivePlan plan{with_clocks, select_energy()};
  const Trial result = try_out(plan, light);
  ASSERT_TRUE(result.optimum->clock);
  EXPECT_LE(*result.optimum->clock, 800_MHz);
  // It measured the lowest limit before it turned to the clocks, and never mixed both knobs.
  EXPECT_EQ(result.asked[1].limit, 100_W);
  for (const records::PowerSetting& setting : result.asked) {
    EXPECT_TRUE(with_clocks.holds(setting));
    EXPECT_TRUE(!setting.clock || setting.limit == 250_W);
  }
}

TEST(AdaptivePlan, LeavesTheClocksAloneIfALimitBinds) {
  AdaptivePlan plan{with_clocks, select_energy()};
  for (const records::PowerSetting& setting : try_out(plan, heavy).asked) {
    EXPECT_FALSE(setting.clock);
  }
}

TEST(AdaptivePlan, ChangesNothingIfNoLimitBindsAndClocksMayNotBeLocked) {
  AdaptivePlan plan{seven, select_energy()};
  EXPECT_EQ(try_out(plan, light).optimum->limit, 250_W);
}

TEST(AdaptivePlan, WorksWithoutAReportOfWhatHoldsTheGpuBack) {
  AdaptivePlan plan{with_clocks, select_energy()};
  const auto mute = [](const World& world) {
    return [world](const records::PowerSetting& setting) {
      WorldStep step = world(setting);
      step.capped.reset();
      return step;
    };
  };
  EXPECT_TRUE(try_out(plan, mute(light)).optimum->clock);
  AdaptivePlan other{seven, select_zeus_cost(0.5)};
  EXPECT_LE(cost(heavy, *try_out(other, mute(heavy)).optimum, 0.5), 1.02 * best_cost(heavy, seven, 0.5));
}

TEST(AdaptivePlan, StaysWithinItsBudget) {
  AdaptivePlan plan{seven, select_zeus_cost(0.5), {.most_steps = 60}};
  const Trial result = try_out(plan, heavy, 1, 0.3);
  EXPECT_LE(result.steps, 60U);
  EXPECT_TRUE(result.optimum);
}

TEST(AdaptivePlan, MeasuresLongerIfWindowsAreCoarse) {
  AdaptivePlan plan{seven, select_energy()};
  const SliceRequest first = *plan.next();
  plan.measured({.setting = first.setting,
                 .measure = first.measure,
                 .begin = 10,
                 .reading = {.time = 0.05_s,
                             .time_uncertainty = 0_s,
                             .energy = {.value = 10_J, .uncertainty = 2_J, .systematic = {}, .method = {}},
                             .capped = 1.0}});
  EXPECT_GT(plan.next()->measure, 4 * first.measure);
  EXPECT_GT(plan.next()->settle, 5U);  // 0.1 s, at 0.01 s a step
}

TEST(AdaptivePlan, RespectsASlowdownBound) {
  int within = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    AdaptivePlan plan{seven, select_max_slowdown(1.08)};
    const Trial result = try_out(plan, heavy, seed);
    within += heavy(*result.optimum).time <= 1.08 * 1.01 * heavy(seven.highest()).time ? 1 : 0;
  }
  EXPECT_GE(within, 19);
}

TEST(AdaptivePlan, RepeatsItsDecisionsForTheSameMeasurements) {
  AdaptivePlan one{seven, select_zeus_cost(0.5)};
  AdaptivePlan two{seven, select_zeus_cost(0.5)};
  const Trial first = try_out(one, heavy, 9);
  const Trial second = try_out(two, heavy, 9);
  EXPECT_EQ(first.asked, second.asked);
  EXPECT_EQ(one.measurements(), two.measurements());
}

// The decisions are the same under every compiler and at every level of optimization.
TEST(AdaptivePlan, DecidesTheSameUnderEveryCompiler) {
  std::string decisions;
  for (const World& world : {World{heavy}, World{light}}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      AdaptivePlan plan{with_clocks, select_zeus_cost(0.5)};
      const Trial result = try_out(plan, world, seed);
      for (const records::PowerSetting& setting : result.asked) {
        decisions +=
            setting.clock ? fmt::format("{}MHz ", setting.clock->value()) : fmt::format("{}W ", setting.limit.value());
      }
      const records::PowerMeasurement first = plan.measurements().front();
      decisions += fmt::format("-> {} {} {}\n", result.optimum->limit.value(), first.step_time.value(),
                               first.step_energy.value.value());
    }
  }
  test::expect_golden("optimize/power_limit_decisions.txt", decisions);
}

TEST(AdaptivePlan, RepeatsItsDecisionFromASavedProfile) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    AdaptivePlan plan{seven, select_zeus_cost(0.5)};
    const Trial result = try_out(plan, heavy, seed);
    const records::PowerProfile saved{.gpu = "V100", .complete = true, .measurements = plan.measurements()};
    AdaptivePlan again{seven, select_zeus_cost(0.5), {}, records::power_profile_from_json(records::to_json(saved))};
    EXPECT_FALSE(again.next());
    EXPECT_EQ(again.optimum(), result.optimum);
  }
}

TEST(AdaptivePlan, ContinuesFromAnInterruptedProfile) {
  AdaptivePlan plan{seven, select_zeus_cost(0.5)};
  const SliceRequest first = *plan.next();
  const WorldStep step = heavy(first.setting);
  plan.measured({.setting = first.setting,
                 .measure = first.measure,
                 .begin = 10,
                 .reading = {.time = step.time * first.measure,
                             .time_uncertainty = 0_s,
                             .energy = {.value = step.energy * first.measure, .uncertainty = 0_J},
                             .capped = 0.0}});
  const records::PowerProfile saved{.gpu = "V100", .complete = false, .measurements = plan.measurements()};
  AdaptivePlan again{seven, select_zeus_cost(0.5), {}, saved};
  ASSERT_TRUE(again.next());
  EXPECT_NE(again.next()->setting, first.setting);
  EXPECT_LE(cost(heavy, *try_out(again, heavy).optimum, 0.5), 1.01 * best_cost(heavy, seven, 0.5));
}

// A saved uncertainty is half of a 95 % interval, 1.96 standard errors; a standard error of 1 % is allowed here.
TEST(AdaptivePlan, MeasuresAgainWhatASavedProfileKnowsTooRoughly) {
  const auto measured_to = [](double half_width) {
    records::PowerProfile saved{.gpu = "V100", .complete = false, .measurements = {}};
    for (const Watts limit : {250_W, 225_W}) {
      saved.measurements.push_back({.setting = {.limit = limit, .clock = {}},
                                    .steps = 20,
                                    .step_time = 1_s,
                                    .step_time_uncertainty = 1_s * half_width,
                                    .step_energy = {.value = 200_J, .uncertainty = 200_J * half_width},
                                    .capped = 1.0});
    }
    return saved;
  };
  const SettingRange two{{250_W, 225_W}};
  const AdaptivePlanOptions options{.relative_error = 0.01};
  EXPECT_TRUE((AdaptivePlan{two, select_energy(), options, measured_to(0.025)}.next()));
  EXPECT_FALSE((AdaptivePlan{two, select_energy(), options, measured_to(0.015)}.next()));
}

TEST(AdaptivePlan, IgnoresSettingsOfAProfileOutsideTheRange) {
  AdaptivePlan wide{seven, select_energy()};
  try_out(wide, heavy);
  const records::PowerProfile saved{.gpu = "V100", .complete = true, .measurements = wide.measurements()};
  const SettingRange narrow{{250_W, 225_W, 200_W}};
  AdaptivePlan plan{narrow, select_energy(), {}, saved};
  EXPECT_TRUE(narrow.holds(*try_out(plan, heavy).optimum));
}

TEST(AdaptivePlan, LeavesOutRefusedSettings) {
  AdaptivePlan plan{seven, select_energy()};
  for (const Watts limit : {250_W, 175_W, 150_W}) {
    plan.refused({.limit = limit, .clock = std::nullopt});
  }
  for (const records::PowerSetting& setting : try_out(plan, heavy).asked) {
    EXPECT_NE(setting.limit, 250_W);
    EXPECT_NE(setting.limit, 175_W);
    EXPECT_NE(setting.limit, 150_W);
  }
}

TEST(AdaptivePlan, RefusesInvalidOptions) {
  for (const double bad : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_THROW((AdaptivePlan{seven, select_time(), {.tolerance = bad}}), Error);
    EXPECT_THROW((AdaptivePlan{seven, select_time(), {.confidence = bad}}), Error);
    EXPECT_THROW((AdaptivePlan{seven, select_time(), {.relative_error = bad}}), Error);
  }
  EXPECT_THROW((AdaptivePlan{seven, select_time(), {.measure = 0}}), Error);
}

TEST(FullSweep, MeasuresEveryLimitFromTheHighestDownAndLetsTheSelectorChoose) {
  for (const double eta : {0.0, 0.5, 1.0}) {
    FullSweep plan{seven, select_zeus_cost(eta), {.settle = 3, .measure = 7}};
    const Trial result = try_out(plan, heavy, 1, 0.0);
    EXPECT_EQ(result.steps, 70U);
    EXPECT_TRUE(std::ranges::is_sorted(result.asked, std::greater<>{}, [](const auto& s) { return s.limit; }));
    EXPECT_LE(cost(heavy, *result.optimum, eta), 1.02 * best_cost(heavy, seven, eta));
  }
}

TEST(FullSweep, ChoosesTheHighestOfEqualLimits) {
  FullSweep plan{seven, select_zeus_cost(0.5)};
  while (const auto request = plan.next()) {
    plan.measured({.setting = request->setting,
                   .measure = request->measure,
                   .begin = 0,
                   .reading = {.time = 1_s, .time_uncertainty = 0_s, .energy = {.value = 10_J}, .capped = {}}});
  }
  EXPECT_EQ(plan.optimum()->limit, 250_W);
}

TEST(FullSweep, RefusesSlicesWithoutMeasuredSteps) {
  EXPECT_THROW((FullSweep{seven, select_time(), {.settle = 1, .measure = 0}}), Error);
}

}  // namespace
}  // namespace zeus::optimize
