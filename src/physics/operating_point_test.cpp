#include "physics/operating_point.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace zeus::physics {
namespace {

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  const GpuModel& model = preset(GetParam());
  Demand heavy = Demand::of_work(0.97, 1.0, 0.2);
  Controls controls = Controls::defaults(model);

  [[nodiscard]] OperatingPoint at_limit(Watts limit, Celsius temperature = 55_degC) const {
    Controls limited = controls;
    limited.requested_limit = limit;
    return settle(model, limited, heavy, temperature);
  }
};

TEST_P(EveryPreset, DrawsMoreAndRunsFasterUnderAHigherLimit) {
  OperatingPoint before = at_limit(model.limits.min);
  for (Watts limit = model.limits.min; limit <= model.limits.max; limit += 5_W) {
    const OperatingPoint now = at_limit(limit);
    EXPECT_GE(now.power, before.power - Watts{1e-6});
    EXPECT_GE(now.speed, before.speed - 1e-9);
    EXPECT_GE(now.sm_clock, before.sm_clock);
    before = now;
  }
}

TEST_P(EveryPreset, KeepsToTheLimitDownToTheLeastEnforceablePower) {
  for (Watts limit = model.limits.min; limit <= model.limits.max; limit += 5_W) {
    EXPECT_LE(at_limit(limit).power, std::max(limit, least_enforceable(model, heavy, 55_degC)));
  }
  const OperatingPoint floor = at_limit(1_W);
  EXPECT_NEAR(floor.sm_clock / model.clocks.max, model.power.lowest_capped, model.clocks.step / model.clocks.max);
  EXPECT_GT(floor.power, 1_W) << "no clock is low enough for one watt";
  EXPECT_TRUE(floor.held_by(Throttle::power_cap));
}

TEST_P(EveryPreset, ALockedClockHoldsIfTheLimitDoesNotBind) {
  Controls locked = controls;
  locked.clocks_locked = true;
  locked.lock_max = locked.lock_min = model.clocks.min + model.clocks.step * 10.0;
  const OperatingPoint point = settle(model, locked, heavy, 55_degC);
  EXPECT_EQ(point.sm_clock, locked.lock_max);
  EXPECT_TRUE(point.held_by(Throttle::locked_clock));
  EXPECT_LT(point.power, at_limit(model.limits.max).power);
  EXPECT_LT(point.speed, 1.0);
}

TEST_P(EveryPreset, APowerDemandDrawsExactlyWhatItSaysAtAnyTemperature) {
  const Watts asked = model.limits.min + 20_W;
  for (const Celsius temperature : {30_degC, 55_degC, 80_degC}) {
    const OperatingPoint point = settle(model, controls, Demand::of_power(asked), temperature);
    EXPECT_NEAR(point.power.value(), asked.value(), 1e-9);
    EXPECT_DOUBLE_EQ(point.speed, 1.0);
  }
  const OperatingPoint none = settle(model, controls, Demand::none(), 40_degC);
  EXPECT_EQ(none.power, model.power.idle);
  EXPECT_EQ(none.speed, 0.0);
  EXPECT_TRUE(none.held_by(Throttle::idle));
}

TEST_P(EveryPreset, AWarmerChipDrawsMoreUntilTheLimitStopsIt) {
  const Demand light = Demand::of_work(0.5, 0.3, 0.2);
  EXPECT_GT(settle(model, controls, light, 80_degC).power, settle(model, controls, light, 40_degC).power);
  const Watts limit = model.limits.min + 30_W;
  EXPECT_LE(at_limit(limit, 80_degC).power, limit);
  EXPECT_LT(at_limit(limit, 80_degC).speed, at_limit(limit, 40_degC).speed);
}

TEST_P(EveryPreset, TooHotIsHeldByTheTemperature) {
  GpuModel hot = model;
  hot.thermal.ambient = 60_degC;
  const OperatingPoint point = settle(hot, controls, heavy, hot.thermal.slowdown);
  EXPECT_TRUE(point.held_by(Throttle::thermal));
  EXPECT_LT(point.speed, at_limit(model.limits.max, hot.thermal.slowdown).speed);
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPreset,
                         ::testing::Values("P100", "V100", "RTX6000", "A40", "A100", "H100", "H200"));

TEST(Preset, IsFoundWhateverTheCaseAndNamedWhenUnknown) {
  EXPECT_EQ(preset("rtx6000").product(), "Quadro RTX 6000");
  try {
    static_cast<void>(preset("B300"));
    FAIL() << "no such model";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
    EXPECT_NE(std::string{error.what()}.find("P100, V100, RTX6000, A40, A100, H100, H200"), std::string::npos);
  }
}

}  // namespace
}  // namespace zeus::physics
