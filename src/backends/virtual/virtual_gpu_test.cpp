#include "backends/virtual/virtual_backend.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::backends::virtual_gpu {
namespace {

using physics::Demand;
using physics::Load;

struct Machine {
  VirtualClock clock;
  VirtualBackend backend;
  VirtualGpu& gpu = backend.gpu(0);

  explicit Machine(std::string_view model) : backend{clock, std::span{&physics::preset(model), 1}} {}
};

// Counter, average and instant power against the true values over an hour of loads, by the sensors' own rules.
TEST(VirtualGpu, SensorsAgreeWithTheTrueEnergyOverAnHourOfRandomLoads) {
  for (const physics::GpuModel& model : physics::presets()) {
    Machine machine{model.name()};
    Random random{11};
    const Instant end = machine.clock.now() + 3600_s;
    while (machine.clock.now() < end) {
      machine.gpu.set_load(Load::square(Demand::of_power(Watts{random.uniform(30, 150)}),
                                        Demand::of_power(Watts{random.uniform(150, 600)}),
                                        Seconds{random.uniform(0.005, 1.0)}, machine.clock.now()));
      if (random.below(4) == 0) {
        ASSERT_TRUE(
            machine.gpu.set_power_limit(Watts{random.uniform(model.limits.min.value(), model.limits.max.value())}));
      }
      machine.clock.advance(Seconds{random.uniform(0.01, 20)});
      const Instant now = machine.clock.now();
      const Joules truth = machine.gpu.true_energy(now);
      if (const auto counter = machine.gpu.energy()) {
        EXPECT_LE(counter->value, truth + 1e-6_J);
        EXPECT_GE(counter->value, machine.gpu.true_energy(now - model.sensors.counter_period) - 0.002_J);
      }
      for (const auto& [kind, sensor] : {std::pair{PowerKind::average, model.sensors.average},
                                         std::pair{PowerKind::instant, model.sensors.instant}}) {
        if (const auto power = machine.gpu.power(kind, PowerScope::gpu)) {
          const std::int64_t period = (Instant{} + sensor.period).nanoseconds;
          const Instant updated{now.nanoseconds - now.nanoseconds % period};
          const Instant from = updated - sensor.window;
          const Watts mean = (machine.gpu.true_energy(updated) - machine.gpu.true_energy(from)) / sensor.window;
          EXPECT_NEAR(power->value.value(), mean.value(), 0.01);
        }
      }
    }
  }
}

TEST(VirtualGpu, ALowerLimitDrawsLessAndIsReportedAsTheReason) {
  Machine machine{"V100"};
  machine.gpu.set_load(Load::constant(Demand::of_work(0.95, 1.0, 0.3)));
  machine.clock.advance(10_s);
  const Watts before = machine.gpu.power(PowerKind::plain, PowerScope::gpu)->value;
  ASSERT_TRUE(machine.gpu.set_power_limit(120_W));
  machine.clock.advance(10_s);
  EXPECT_LE(machine.gpu.power(PowerKind::plain, PowerScope::gpu)->value, 120_W);
  EXPECT_GT(before, 120_W);
  EXPECT_TRUE(machine.gpu.throttle_reasons()->has(ThrottleReason::power_cap));
  EXPECT_NEAR(machine.gpu.throttle_times().power_cap->value(), 10.0, 10.01);
  EXPECT_LT(*machine.gpu.clocks().sm, *machine.gpu.clocks().maximum_graphics);
}

TEST(VirtualGpu, AnEnforcedLimitMayBeLowerThanTheOneAskedFor) {
  Machine machine{"A40"};
  machine.gpu.set_faults({.ceiling = 180_W});
  ASSERT_TRUE(machine.gpu.set_power_limit(250_W));
  EXPECT_EQ(*machine.gpu.power_limits().current, 250_W);
  EXPECT_EQ(*machine.gpu.power_limits().enforced, 180_W);
  machine.gpu.set_load(Load::constant(Demand::of_power(290_W)));
  EXPECT_LE(machine.gpu.operating_point().power, 180_W);
}

TEST(VirtualGpu, FailsWithTheGivenReason) {
  Machine machine{"H100"};
  for (const Reason reason : {Reason::permission, Reason::unsupported, Reason::timeout, Reason::lost}) {
    machine.gpu.set_faults({.reading = reason, .setting = reason});
    EXPECT_EQ(machine.gpu.energy().failure().reason, reason);
    EXPECT_EQ(machine.gpu.power_limits().enforced.failure().reason, reason);
    EXPECT_EQ(machine.gpu.set_power_limit(300_W).failure().reason, reason);
    EXPECT_EQ(static_cast<bool>(machine.gpu.reopen()), reason != Reason::lost);
  }
  machine.gpu.set_faults({});
  EXPECT_TRUE(machine.gpu.reopen());
  EXPECT_TRUE(machine.gpu.energy());
  EXPECT_TRUE(machine.gpu.features().has(device::GpuFeature::energy_counter));
}

TEST(VirtualGpu, ASlowCallTakesItsTimeOnTheClock) {
  Machine machine{"V100"};
  machine.gpu.set_faults({.slowness = 30_ms});
  const Instant before = machine.clock.now();
  EXPECT_EQ(machine.gpu.energy()->latency, Seconds{0.03});
  EXPECT_EQ(machine.clock.now(), before + 30_ms);
}

TEST(VirtualGpu, CountersResetWrapFreezeAndGoBackOnRequest) {
  Machine machine{"V100"};
  machine.gpu.set_load(Load::constant(Demand::of_power(100_W)));
  machine.clock.advance(10_s);
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 1000.0, 0.01);
  machine.gpu.reset_counter();
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 0.0, 0.01);
  machine.gpu.heal_counter();
  machine.gpu.turn_counter_back(50_J);
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 950.0, 0.01);
  machine.gpu.heal_counter();
  machine.gpu.wrap_counter_at(300_J);
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 100.0, 0.01);
  EXPECT_EQ(machine.gpu.energy_counter()->wraps_at, 300_J);
  machine.gpu.heal_counter();
  machine.gpu.freeze_counter();
  machine.clock.advance(10_s);
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 1000.0, 0.01);
  EXPECT_NEAR(machine.gpu.truth().energy.value(), 2000.0, 0.01);
}

TEST(VirtualGpu, FollowsATableAndRefusesOneThatIsNotSorted) {
  Machine machine{"V100"};
  machine.gpu.follow_table({{0_s, Demand::of_power(100_W)}, {1_s, Demand::of_power(200_W)}}, false);
  machine.clock.advance(3_s);
  EXPECT_NEAR(machine.gpu.truth().energy.value(), 500.0, 1e-6);
  EXPECT_THROW(machine.gpu.follow_table({{2_s, Demand::none()}, {1_s, Demand::none()}}, false), Error);
}

TEST(VirtualGpu, ALongTimeUnwatchedIsNotForgotten) {
  Machine machine{"A100"};
  machine.gpu.set_load(Load::constant(Demand::of_power(200_W)));
  machine.clock.advance(Seconds{3600.0 * 24});
  EXPECT_NEAR(machine.gpu.energy()->value.value(), 200.0 * 3600 * 24, 200.0 * 0.1);
}

}  // namespace
}  // namespace zeus::backends::virtual_gpu
