#include "physics/sensors.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zeus::physics {
namespace {

constexpr Instant time_zero{};

struct SensedCard {
  explicit SensedCard(const GpuModel& kind) : model{kind} { gpu.start(time_zero); }
  GpuModel model;
  std::unique_ptr<GpuState> state = std::make_unique<GpuState>();
  Gpu gpu{model, *state};
  Sensors sensors{gpu};
};

TEST(Sensors, TheCounterMovesOncePerPeriodToTheTrueEnergyOfThatMoment) {
  SensedCard card{preset("V100")};
  card.gpu.set_load(time_zero, Load::constant(Demand::of_power(200_W)));
  const EnergyReading reading = *card.sensors.counter(time_zero + 1.019_s);
  EXPECT_EQ(reading.updated.nanoseconds, 1'000'000'000);
  EXPECT_NEAR(reading.value.value(), 200.0, 1e-9);
  EXPECT_EQ(card.sensors.counter(time_zero + 1.0199_s)->value, reading.value);
  EXPECT_NEAR(card.sensors.counter(time_zero + 1.02_s)->value.value(), 204.0, 1e-9);
}

TEST(Sensors, PascalHasNoCounter) {
  const SensedCard card{preset("P100")};
  EXPECT_FALSE(card.sensors.counter(time_zero));
  EXPECT_FALSE(card.sensors.average(time_zero));
  EXPECT_TRUE(card.sensors.instant(time_zero));
}

TEST(Sensors, TheCounterShowsTheTrueEnergyAfterAnHourOfRandomLoads) {
  for (const GpuModel& model : presets()) {
    if (!model.sensors.counter_present) {
      continue;
    }
    SensedCard card{model};
    Random random{7};
    Instant now = time_zero;
    while (now < time_zero + 3600_s) {
      card.gpu.set_load(now, Load::square(Demand::of_power(Watts{random.uniform(30, 200)}),
                                          Demand::of_power(Watts{random.uniform(100, 500)}),
                                          Seconds{random.uniform(0.002, 2.0)}, now));
      now = now + Seconds{random.uniform(0.001, 20.0)};
      const EnergyReading reading = *card.sensors.counter(now);
      EXPECT_NEAR(reading.value.value(), card.gpu.energy(reading.updated).value(), 1e-6);
      EXPECT_LE(now - reading.updated, model.sensors.counter_period);
    }
  }
}

TEST(Sensors, APartTimeCounterIsBlindToWhatFallsBetweenItsWindows) {
  GpuModel model = preset("A100");
  model.sensors.counter_part_time = true;
  // The last 25 ms of each 100 ms are seen; the wave is high only before them.
  const Load load{.shape = LoadShape::square,
                  .first = Demand::of_power(300_W),
                  .second = Demand::of_power(100_W),
                  .origin = time_zero,
                  .period_ns = 100'000'000,
                  .first_lasts_ns = 50'000'000};
  SensedCard card{model};
  card.gpu.set_load(time_zero, load);
  EXPECT_NEAR(card.gpu.energy(time_zero + 10_s).value(), 2000.0, 1e-6);
  EXPECT_NEAR(card.sensors.counter(time_zero + 10_s)->value.value(), 1000.0, 1e-6);
}

TEST(Sensors, AnAverageReadingLagsByItsWindowAndAnInstantOneDoesNot) {
  SensedCard card{preset("H100")};
  card.gpu.set_load(time_zero, Load::constant(Demand::of_power(100_W)));
  card.gpu.set_load(time_zero + 10_s, Load::constant(Demand::of_power(500_W)));
  EXPECT_NEAR(card.sensors.average(time_zero + 10.5_s)->value.value(), 300.0, 1e-6);
  EXPECT_NEAR(card.sensors.average(time_zero + 11_s)->value.value(), 500.0, 1e-6);
  EXPECT_NEAR(card.sensors.instant(time_zero + 10.1_s)->value.value(), 500.0, 1e-6);
  EXPECT_EQ(card.sensors.power(time_zero + 10.5_s)->value, card.sensors.average(time_zero + 10.5_s)->value);
}

TEST(Sensors, GainAndOffsetAffectReadingsButNotTheTrueEnergy) {
  GpuModel model = preset("V100");
  model.sensors.gain = 0.945;
  model.sensors.offset = 2_W;
  SensedCard card{model};
  card.gpu.set_load(time_zero, Load::constant(Demand::of_power(200_W)));
  EXPECT_NEAR(card.sensors.instant(time_zero + 1_s)->value.value(), 191.0, 1e-6);
  EXPECT_NEAR(card.sensors.counter(time_zero + 10_s)->value.value(), 1890.0, 1e-6);
  EXPECT_NEAR(card.gpu.energy(time_zero + 10_s).value(), 2000.0, 1e-6);
}

TEST(Sensors, TheSampleRingHoldsTheLastSeconds) {
  SensedCard card{preset("V100")};
  card.gpu.set_load(time_zero + 10_s, Load::constant(Demand::of_power(200_W)));
  std::vector<PowerReading> samples(200);
  const std::size_t all = card.sensors.samples(time_zero + 11_s, time_zero, samples);
  ASSERT_EQ(all, 119U);
  EXPECT_EQ(samples[118].updated, time_zero + 11_s);
  EXPECT_NEAR(samples[118].value.value(), 200.0, 1e-6);
  EXPECT_NEAR(samples[0].value.value(), card.model.power.idle.value(), 1e-6);
  EXPECT_EQ(card.sensors.samples(time_zero + 11_s, time_zero + 10.9_s, samples), 5U);
}

TEST(Sensors, ACounterMayBeResetFrozenAndWrapped) {
  SensedCard card{preset("V100")};
  card.gpu.set_load(time_zero, Load::constant(Demand::of_power(100_W)));
  card.gpu.set_counter({.offset = -card.gpu.energy(time_zero + 10_s)});
  EXPECT_NEAR(card.sensors.counter(time_zero + 11_s)->value.value(), 100.0, 1e-6);
  card.gpu.set_counter({.wrap = 250_J});
  EXPECT_NEAR(card.sensors.counter(time_zero + 11_s)->value.value(), 100.0, 1e-6);
  card.gpu.set_counter({.frozen_at = 42_J, .frozen = true});
  EXPECT_EQ(card.sensors.counter(time_zero + 11_s)->value, 42_J);
}

}  // namespace
}  // namespace zeus::physics
