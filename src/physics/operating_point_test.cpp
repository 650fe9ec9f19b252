#include "physics/operating_point.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace zeus::physics {
namespace {

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  const GpuModel& model_ = preset(GetParam());
  Demand heavy_ = Demand::of_work(0.97, 1.0, 0.2);
  Controls controls_ = Controls::defaults(model_);

  [[nodiscard]] OperatingPoint at_limit(Watts limit, Celsius temperature = 55_degC) const {
    Controls limited = controls_;
    limited.requested_limit = limit;
    return settle(model_, limited, heavy_, temperature);
  }
};

TEST_P(EveryPreset, DrawsMoreAndRunsFasterUnderAHigherLimit) {
  OperatingPoint before = at_limit(model_.limits.min);
  for (Watts limit = model_.limits.min; limit <= model_.limits.max; limit += 5_W) {
    const OperatingPoint now = at_limit(limit);
    EXPECT_GE(now.power, before.power - Watts{1e-6});
    EXPECT_GE(now.speed, before.speed - 1e-9);
    EXPECT_GE(now.sm_clock, before.sm_clock);
    before = now;
  }
}

TEST_P(EveryPreset, KeepsToTheLimitDownToTheLeastEnforceablePower) {
  for (Watts limit = model_.limits.min; limit <= model_.limits.max; limit += 5_W) {
    EXPECT_LE(at_limit(limit).power, std::max(limit, least_enforceable(model_, heavy_, 55_degC)));
  }
  const OperatingPoint floor = at_limit(1_W);
  EXPECT_NEAR(floor.sm_clock / model_.clocks.max, model_.power.lowest_capped, model_.clocks.step / model_.clocks.max);
  EXPECT_GT(floor.power, 1_W) << "no clock is low enough for one watt";
  EXPECT_TRUE(floor.held_by(Throttle::power_cap));
}

TEST_P(EveryPreset, ALockedClockHoldsIfTheLimitDoesNotBind) {
  Controls locked = controls_;
  locked.clocks_locked = true;
  locked.lock_max = locked.lock_min = model_.clocks.min + model_.clocks.step * 10.0;
  const OperatingPoint point = settle(model_, locked, heavy_, 55_degC);
  EXPECT_EQ(point.sm_clock, locked.lock_max);
  EXPECT_TRUE(point.held_by(Throttle::locked_clock));
  EXPECT_LT(point.power, at_limit(model_.limits.max).power);
  EXPECT_LT(point.speed, 1.0);
}

TEST_P(EveryPreset, APowerDemandDrawsExactlyWhatItSaysAtAnyTemperature) {
  const Watts asked = model_.limits.min + 20_W;
  for (const Celsius temperature : {30_degC, 55_degC, 80_degC}) {
    const OperatingPoint point = settle(model_, controls_, Demand::of_power(asked), temperature);
    EXPECT_NEAR(point.power.value(), asked.value(), 1e-9);
    EXPECT_DOUBLE_EQ(point.speed, 1.0);
  }
  const OperatingPoint none = settle(model_, controls_, Demand::none(), 40_degC);
  EXPECT_EQ(none.power, model_.power.idle);
  EXPECT_EQ(none.speed, 0.0);
  EXPECT_TRUE(none.held_by(Throttle::idle));
}

TEST_P(EveryPreset, AWarmerChipDrawsMoreUntilTheLimitStopsIt) {
  const Demand light = Demand::of_work(0.5, 0.3, 0.2);
  EXPECT_GT(settle(model_, controls_, light, 80_degC).power, settle(model_, controls_, light, 40_degC).power);
  const Watts limit = model_.limits.min + 30_W;
  EXPECT_LE(at_limit(limit, 80_degC).power, limit);
  EXPECT_LT(at_limit(limit, 80_degC).speed, at_limit(limit, 40_degC).speed);
}

TEST_P(EveryPreset, TooHotIsHeldByTheTemperature) {
  GpuModel hot = model_;
  hot.thermal.ambient = 60_degC;
  const OperatingPoint point = settle(hot, controls_, heavy_, hot.thermal.slowdown);
  EXPECT_TRUE(point.held_by(Throttle::thermal));
  EXPECT_LT(point.speed, at_limit(model_.limits.max, hot.thermal.slowdown).speed);
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
