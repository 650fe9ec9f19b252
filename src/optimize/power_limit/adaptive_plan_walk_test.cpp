// The walk of the adaptive plan, worked out by hand. Nothing disturbs the slices here, and the machine has long been
// warm.

#include "optimize/power_limit/adaptive_plan.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::optimize {
namespace {

constexpr std::uint32_t many = 1'000'000'000;

struct Certain {
  Seconds time;
  Watts power;
  std::optional<double> capped;
};

Slice slice_of(const records::PowerSetting& setting, const Certain& step, std::uint32_t steps = many) {
  return {.setting = setting,
          .measure = steps,
          .begin = 1'000'000,
          .reading = {.time = step.time * steps,
                      .time_uncertainty = {},
                      .energy = {.value = step.power * step.time * steps},
                      .capped = step.capped}};
}

AdaptivePlanOptions unbounded() {
  return {.most_steps = std::uint64_t{1} << 60};
}

// The settings requested, one after the other: "250" for a limit, "800M" for a clock.
template <typename World>
std::vector<std::string> walked(const SettingRange& range, Selector selector, World world) {
  AdaptivePlan plan{range, std::move(selector), unbounded()};
  std::vector<std::string> asked;
  while (const auto request = plan.next()) {
    const records::PowerSetting& setting = request->setting;
    asked.push_back(setting.clock ? std::to_string(static_cast<int>(setting.clock->value())) + "M"
                                  : std::to_string(static_cast<int>(setting.limit.value())));
    if (asked.size() > 40) {
      ADD_FAILURE() << "the plan does not end";
      break;
    }
    plan.measured(slice_of(setting, world(setting)));
  }
  return asked;
}

using Walk = std::vector<std::string>;

SettingRange limits(int count) {
  std::vector<Watts> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(Watts{400.0 - 10.0 * i});
  }
  return SettingRange{all};
}

// The limit binds everywhere but does not slow anything down: each lower limit saves energy, and the last could save
// the most. The walk goes down an eighth of the ladder at a time, rounded up: one of 8 limits, two of 9, three of 17.
TEST(AdaptivePlanWalk, GoesDownAnEighthOfTheLadderAtATime) {
  const auto world = [](const records::PowerSetting& setting) { return Certain{1_s, setting.limit, 1.0}; };
  const auto strides = [&](int count) {
    const Walk asked = walked(limits(count), select_energy(), world);
    return std::vector<std::string>{asked[1], asked[2]};
  };
  EXPECT_EQ(strides(8), (Walk{"390", "380"}));
  EXPECT_EQ(strides(9), (Walk{"380", "360"}));
  EXPECT_EQ(strides(16), (Walk{"380", "360"}));
  EXPECT_EQ(strides(17), (Walk{"370", "340"}));
}

// Three limits; only time counts, and none of the lower ones can be faster than the first.
TEST(AdaptivePlanWalk, EndsWhereNothingBelowCanWin) {
  const auto world = [](const records::PowerSetting& setting) { return Certain{1_s, setting.limit, 1.0}; };
  EXPECT_EQ(walked(limits(3), select_time(), world), (Walk{"400"}));
}

// The same, of a training that may be over soon: a slice that was disturbed must not end the walk.
TEST(AdaptivePlanWalk, GoesToTheLowestLimitIfTheTrainingMayEndSoon) {
  AdaptivePlanOptions options = unbounded();
  options.may_end_soon = true;
  AdaptivePlan plan{limits(3), select_time(), options};
  Walk asked;
  while (const auto request = plan.next()) {
    asked.push_back(std::to_string(static_cast<int>(request->setting.limit.value())));
    plan.measured(slice_of(request->setting, {1_s, request->setting.limit, 1.0}));
  }
  EXPECT_EQ(Walk(asked.begin(), asked.begin() + 3), (Walk{"400", "390", "380"}));
}

// Without a limit the GPU draws 95 W here, in steps of a tenth of a second. That is below 100 W, the lowest limit, so
// that limit is measured next. At 120 W the lowest limit would hold the GPU back, and the walk is an ordinary one.
TEST(AdaptivePlanWalk, MeasuresTheLowestLimitNextIfItMayHoldNothingBack) {
  const SettingRange range{{300_W, 250_W, 200_W, 150_W, 100_W}};
  const auto drawing = [](Watts power) {
    return [power](const records::PowerSetting& setting) {
      return Certain{0.1_s, std::min(power, setting.limit), setting.limit < power ? 1.0 : 0.0};
    };
  };
  EXPECT_EQ(walked(range, select_energy(), drawing(95_W)), (Walk{"300", "100"}));
  const Walk hungrier = walked(range, select_energy(), drawing(120_W));
  ASSERT_GE(hungrier.size(), 2U);
  EXPECT_EQ(hungrier[1], "250");
}

// If the device does not report what holds it back, a GPU that draws more than 93 % of its limit counts as held: 288 W
// of 300 W does. 270 W does not, and is more than the lowest limit allows. 96 W does not.
TEST(AdaptivePlanWalk, AGpuNearItsLimitCountsAsHeldIfTheDeviceDoesNotReportIt) {
  const SettingRange range{{300_W, 200_W, 100_W}, {1000_MHz}};
  const auto second = [&range](Watts power) {
    AdaptivePlan plan{range, select_energy(), unbounded()};
    plan.measured(slice_of(plan.next()->setting, {0.1_s, power, {}}));
    return plan.next()->setting.limit;
  };
  EXPECT_EQ(second(96_W), 100_W);
  EXPECT_EQ(second(288_W), 200_W);
}

// Not even 100 W holds the GPU back, so the plan uses the clocks from then on, from the highest down, at first one by
// one.
TEST(AdaptivePlanWalk, TurnsToTheClocksIfTheLowestLimitHoldsNothingBack) {
  const SettingRange range{{300_W, 200_W, 100_W}, {1000_MHz, 900_MHz, 800_MHz}};
  const auto light = [](const records::PowerSetting& setting) {
    const double clock = setting.clock ? setting.clock->value() / 1000.0 : 1.0;
    return Certain{Seconds{1.0 / clock}, Watts{80.0 * clock}, 0.0};  // the energy is the same at every clock
  };
  const Walk asked = walked(range, select_energy(), light);
  ASSERT_GE(asked.size(), 3U);
  EXPECT_EQ(Walk(asked.begin(), asked.begin() + 3), (Walk{"300", "100", "1000M"}));
  const auto held = [](const records::PowerSetting& setting) { return Certain{1_s, 0.9 * setting.limit, 1.0}; };
  for (const std::string& setting : walked(range, select_energy(), held)) {
    EXPECT_NE(setting.back(), 'M');
  }
}

// Slices of a few steps show no difference between the three limits: after the walk down, each pass begins where the
// last one ended and goes the other way.
TEST(AdaptivePlanWalk, MeasuresContendersUpAndDownInTurn) {
  AdaptivePlan plan{SettingRange{{300_W, 250_W, 200_W}},
                    select_energy(),
                    {.tolerance = 1e-6, .confidence = 0.9999, .relative_error = 1e-6, .most_steps = 1'000'000}};
  Walk asked;
  while (asked.size() < 12) {
    const SliceRequest request = plan.next().value();
    asked.push_back(std::to_string(static_cast<int>(request.setting.limit.value())));
    plan.measured(slice_of(request.setting, {1_s, 100_W, 1.0}, request.measure));
  }
  EXPECT_EQ(asked, (Walk{"300", "250", "200", "200", "250", "300", "300", "250", "200", "200", "250", "300"}));
}

// Two limits allow 60 steps, 30 for each. The first slice takes ten to settle and measures as many as the test says;
// the next settles for one (0.1 s of steps of 1 s) and measures five.
TEST(AdaptivePlanWalk, MaySpendThirtyStepsOnEachLimit) {
  const auto goes_on = [](std::uint32_t steps, std::uint64_t most) {
    AdaptivePlan plan{SettingRange{{300_W, 100_W}, {1000_MHz}}, select_energy(), {.most_steps = most}};
    const SliceRequest first = *plan.next();
    EXPECT_EQ(first.settle, 10U);
    EXPECT_EQ(first.measure, 5U);
    plan.measured(slice_of(first.setting, {1_s, 280_W, 1.0}, steps));
    return plan.next().has_value();
  };
  EXPECT_TRUE(goes_on(44, 0));
  EXPECT_FALSE(goes_on(45, 0)) << "no clock is tried here";
  EXPECT_TRUE(goes_on(24, 40));
  EXPECT_FALSE(goes_on(25, 40));
}

// A slice that the plan did not request counts without settling: 54 of 60 steps, and six more.
TEST(AdaptivePlanWalk, ASliceThatWasNotRequestedCountsOnlyItsMeasuredSteps) {
  for (const std::uint32_t steps : {54U, 55U}) {
    AdaptivePlan plan{SettingRange{{300_W, 100_W}}, select_energy()};
    plan.measured(slice_of({.limit = 300_W, .clock = {}}, {1_s, 280_W, 1.0}, steps));
    EXPECT_EQ(plan.next().has_value(), steps == 54U);
  }
}

TEST(AdaptivePlanWalk, MeasuresTheFirstSliceUnderAnyBudget) {
  AdaptivePlan plan{SettingRange{{300_W, 100_W}}, select_energy(), {.most_steps = 1}};
  EXPECT_TRUE(plan.next());
}

// Slices of one setting are combined: steps add up; the capped share, the calibration bound and the method are the
// worst of them.
TEST(AdaptivePlanWalk, CombinesTheSlicesOfASetting) {
  AdaptivePlan plan{SettingRange{{300_W, 100_W}}, select_energy(), unbounded()};
  const records::PowerSetting setting = plan.next()->setting;
  Slice slice = slice_of(setting, {1_s, 200_W, 0.5}, 100);
  slice.reading.energy.systematic = 1000_J;  // of 20,000 J
  slice.reading.energy.method = EnergyMethod::integrated;
  plan.measured(slice);
  slice = slice_of(setting, {1_s, 200_W, 0.25}, 50);
  slice.reading.energy.systematic = 100_J;  // of 10,000 J
  slice.reading.energy.method = EnergyMethod::counter;
  plan.measured(slice);
  const std::vector<records::PowerMeasurement> found = plan.measurements();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].setting, setting);
  EXPECT_EQ(found[0].steps, 150U);
  EXPECT_EQ(found[0].capped, 0.5);
  EXPECT_EQ(found[0].step_energy.method, EnergyMethod::integrated);
  EXPECT_NEAR(found[0].step_time.value(), 1.0, 1e-3);
  EXPECT_NEAR(found[0].step_energy.value.value(), 200.0, 0.2);
  EXPECT_NEAR(*found[0].step_energy.systematic / found[0].step_energy.value, 0.05, 1e-12);
}

// Limits that hold nothing back (capped at most 2 % of the time) are the same to the GPU: a measurement at one holds
// for both. Of 4 s and 2 s, the best estimate is then sqrt(8) s.
TEST(AdaptivePlanWalk, LimitsThatHoldNothingBackShareTheirMeasurements) {
  const auto first_time = [](double capped) {
    AdaptivePlan plan{SettingRange{{300_W, 100_W}}, select_energy(), unbounded()};
    plan.measured(slice_of({.limit = 300_W, .clock = {}}, {4_s, 50_W, 0.0}));
    plan.measured(slice_of({.limit = 100_W, .clock = {}}, {2_s, 50_W, capped}));
    return plan.measurements()[0].step_time.value();
  };
  EXPECT_NEAR(first_time(0.02), std::sqrt(8.0), 1e-3);
  EXPECT_NEAR(first_time(0.03), 4.0, 1e-3);
}

TEST(AdaptivePlanWalk, ReturnsAProfileUnchanged) {
  records::PowerProfile known{.gpu = {}, .complete = true, .measurements = {}};
  for (const Watts limit : {300_W, 200_W}) {
    known.measurements.push_back(
        {.setting = {.limit = limit, .clock = {}},
         .steps = 40,
         .step_time = 300_W / limit * 1_s,
         .step_time_uncertainty = 0.01_s,
         .step_energy = {.value = 250_J, .uncertainty = 2_J, .systematic = 5_J, .method = EnergyMethod::integrated},
         .capped = 0.75});
  }
  AdaptivePlan plan{SettingRange{{300_W, 200_W}}, select_time(), {}, known};
  EXPECT_FALSE(plan.next());
  EXPECT_EQ(plan.optimum()->limit, 300_W);
  const std::vector<records::PowerMeasurement> found = plan.measurements();
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const records::PowerMeasurement& expected = known.measurements[i];
    EXPECT_EQ(found[i].setting, expected.setting);
    EXPECT_EQ(found[i].steps, 40U);
    EXPECT_EQ(found[i].capped, 0.75);
    EXPECT_EQ(found[i].step_energy.method, EnergyMethod::integrated);
    EXPECT_NEAR(found[i].step_time.value(), expected.step_time.value(), 1e-6);
    EXPECT_NEAR(found[i].step_time_uncertainty.value(), 0.01, 1e-4);
    EXPECT_NEAR(found[i].step_energy.value.value(), 250.0, 1e-4);
    EXPECT_NEAR(found[i].step_energy.uncertainty.value(), 2.0, 1e-2);
    EXPECT_NEAR(found[i].step_energy.systematic->value(), 5.0, 1e-4);
  }
}

TEST(AdaptivePlanWalk, ARefusedSettingIsNotAmongItsMeasurements) {
  AdaptivePlan plan{SettingRange{{300_W, 200_W, 100_W}}, select_energy(), unbounded()};
  plan.measured(slice_of({.limit = 300_W, .clock = {}}, {1_s, 300_W, 1.0}));
  plan.refused({.limit = 300_W, .clock = {}});
  EXPECT_TRUE(plan.measurements().empty());
  plan.refused({.limit = 999_W, .clock = {}});
  EXPECT_THROW(plan.measured(slice_of({.limit = 999_W, .clock = {}}, {1_s, 300_W, 1.0})), Error);
  EXPECT_THROW(plan.measured(slice_of({.limit = 200_W, .clock = {}}, {1_s, 200_W, 1.0}, 0)), Error);
}

}  // namespace
}  // namespace zeus::optimize
