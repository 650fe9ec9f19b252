#include "optimize/power_limit/ladder.hpp"

#include "physics/controls.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "physics/operating_point.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zeus::optimize {
namespace {

Rung truth(const physics::GpuModel& gpu, const physics::Demand& demand, Knob knob, double height) {
  physics::Controls controls = physics::Controls::defaults(gpu);
  controls.requested_limit = gpu.limits.max;
  if (knob == Knob::limit) {
    controls.requested_limit = Watts{height};
  } else {
    controls.clocks_locked = true;
    controls.lock_min = gpu.clocks.min;
    controls.lock_max = Megahertz{height};
  }
  const physics::OperatingPoint point = physics::settle(gpu, controls, demand, 60_degC);
  return {.height = height,
          .limit = controls.requested_limit,
          .capped = point.held_by(physics::Throttle::power_cap),
          .step = records::LimitProfile{
              .limit = controls.requested_limit, .epoch_time = 1_s / point.speed, .average_power = point.power}};
}

// For every subset of six measured rungs, and jobs from light to heavy on every GPU.
void expect_never_worse_than_measured(Knob knob, const physics::GpuModel& gpu, const physics::Demand& demand) {
  const double high = knob == Knob::limit ? gpu.limits.max.value() : gpu.clocks.max.value();
  const double low = knob == Knob::limit ? gpu.limits.min.value() : gpu.clocks.max.value() * 0.4;
  std::vector<Rung> all;
  for (int i = 0; i <= 5; ++i) {
    all.push_back(truth(gpu, demand, knob, high - (high - low) * i / 5.0));
  }
  constexpr double slack = 1.0 + 2e-3;
  for (unsigned subset = 1; subset < 64; ++subset) {
    std::vector<Rung> known = all;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if ((subset >> i & 1U) == 0) {
        known[i].step.reset();
      }
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      const auto best = known[i].step ? std::nullopt : best_case(knob, known, i);
      if (best) {
        const records::LimitProfile& real = *all[i].step;
        EXPECT_LE(best->epoch_time, real.epoch_time * slack) << gpu.name() << " rung " << i << " of " << subset;
        EXPECT_LE(best->average_power, real.average_power * slack) << gpu.name() << " rung " << i << " of " << subset;
      }
    }
  }
}

TEST(BestCase, IsNeverWorseThanAMeasurementOfTheVirtualGpus) {
  for (const physics::GpuModel& gpu : physics::presets()) {
    for (const double busy : {0.3, 0.8, 1.0}) {
      for (const double memory : {0.0, 0.3}) {
        const physics::Demand demand = physics::Demand::of_work(busy, 0.9, memory);
        expect_never_worse_than_measured(Knob::limit, gpu, demand);
        expect_never_worse_than_measured(Knob::clock, gpu, demand);
      }
    }
  }
}

TEST(BestCase, BetweenLimitsThatHoldNothingBackTheMeasurementHolds) {
  const records::LimitProfile step{.limit = 300_W, .epoch_time = 2_s, .average_power = 70_W};
  std::vector<Rung> rungs{{.height = 300, .limit = 300_W, .capped = false, .step = step},
                          {.height = 200, .limit = 200_W},
                          {.height = 100, .limit = 100_W, .capped = false, .step = step}};
  EXPECT_EQ(best_case(Knob::limit, rungs, 1)->average_power, 70_W);
  EXPECT_EQ(best_case(Knob::limit, rungs, 1)->limit, 200_W);
  // Without the lower one, this limit may hold back peaks above the mean.
  rungs.pop_back();
  EXPECT_NEAR(best_case(Knob::limit, rungs, 1)->average_power.value(), 70.0 * 200.0 / 300.0, 1e-9);
}

TEST(BestCase, FollowsTheSlopeOfLimitsThatHoldTheClockDown) {
  const std::vector<Rung> rungs{
      {.height = 300,
       .limit = 300_W,
       .capped = true,
       .step = records::LimitProfile{.limit = 300_W, .epoch_time = 1.0_s, .average_power = 300_W}},
      {.height = 200,
       .limit = 200_W,
       .capped = true,
       .step = records::LimitProfile{.limit = 200_W, .epoch_time = 1.3_s, .average_power = 200_W}},
      {.height = 100, .limit = 100_W}};
  const auto best = best_case(Knob::limit, rungs, 2);
  ASSERT_TRUE(best);
  EXPECT_NEAR(best->epoch_time.value(), 1.6, 1e-12);
  EXPECT_EQ(best->average_power, 100_W);
}

TEST(BestCase, IsUnknownWithoutAMeasurementAbove) {
  const std::vector<Rung> rungs{
      {.height = 300, .limit = 300_W},
      {.height = 200,
       .limit = 200_W,
       .capped = true,
       .step = records::LimitProfile{.limit = 200_W, .epoch_time = 1_s, .average_power = 200_W}}};
  EXPECT_FALSE(best_case(Knob::limit, rungs, 0));
}

TEST(BestCase, OfAClockAllowsPowerToFallWithItsCube) {
  const std::vector<Rung> rungs{
      {.height = 1000,
       .limit = 300_W,
       .capped = false,
       .step = records::LimitProfile{.limit = 300_W, .epoch_time = 1_s, .average_power = 160_W}},
      {.height = 500, .limit = 300_W}};
  const auto best = best_case(Knob::clock, rungs, 1);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->average_power, 20_W);
  EXPECT_EQ(best->epoch_time, 1_s);
}

// On the line through 1000 MHz and a clock of 0, a step at 500 MHz would take 1.25 s.
TEST(BestCase, AnUnknownClockGivesNoSlope) {
  const auto step = [](Seconds time) {
    return records::LimitProfile{.limit = 300_W, .epoch_time = time, .average_power = 100_W};
  };
  const std::vector<Rung> rungs{{.height = 1000, .limit = 300_W, .capped = false, .step = step(1.5_s)},
                                {.height = 0, .limit = 300_W, .capped = false, .step = step(1_s)},
                                {.height = 500, .limit = 300_W}};
  EXPECT_EQ(best_case(Knob::clock, rungs, 2)->epoch_time, 1_s);
}

}  // namespace
}  // namespace zeus::optimize
