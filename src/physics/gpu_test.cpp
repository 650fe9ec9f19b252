#include "physics/gpu.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::physics {
namespace {

constexpr Instant powered_on{.nanoseconds = 1'234'567'890};

struct PlainCard {
  explicit PlainCard(std::string_view name) : model{preset(name)} { gpu.start(powered_on); }
  GpuModel model;
  std::unique_ptr<GpuState> state = std::make_unique<GpuState>();
  Gpu gpu{model, *state};
};

TEST(Gpu, AnIdleHourDrawsIdlePower) {
  const PlainCard card{"V100"};
  EXPECT_NEAR(card.gpu.energy(powered_on + 3600_s).value(), card.model.power.idle.value() * 3600, 1e-6);
  EXPECT_NEAR(card.gpu.energy(powered_on - 10_s).value(), card.model.power.idle.value() * -10, 1e-9);
}

TEST(Gpu, ASquareWaveOfMillionsOfPeriodsIsExact) {
  PlainCard card{"V100"};
  card.gpu.set_load(powered_on, Load::square(Demand::of_power(80_W), Demand::of_power(240_W), 1_ms, powered_on));
  EXPECT_NEAR(card.gpu.energy(powered_on + 1000_s).value(), 160'000.0, 1e-3);
  EXPECT_NEAR(card.gpu.energy(powered_on + 0.5_ms).value(), 0.04, 1e-9) << "the low half comes first";
  EXPECT_EQ(card.gpu.operating_point(powered_on + 0.25_ms).power, 80_W);
  EXPECT_EQ(card.gpu.operating_point(powered_on + 0.75_ms).power, 240_W);
}

TEST(Gpu, ATableIsFollowedPointByPointAndOverAgain) {
  const std::vector<TablePoint> table{
      {0_s, Demand::of_power(100_W)}, {2_s, Demand::of_power(200_W)}, {3_s, Demand::of_power(50_W)}};
  PlainCard card{"V100"};
  Gpu gpu{card.model, *card.state, table};
  gpu.set_load(powered_on, Load::from_table(powered_on, true));
  EXPECT_NEAR(gpu.energy(powered_on + 2.5_s).value(), 300.0, 1e-6);
  EXPECT_NEAR(gpu.energy(powered_on + 30_s).value(), 4000.0, 1e-5);
  gpu.set_load(powered_on + 30_s, Load::from_table(powered_on + 30_s, false));
  EXPECT_NEAR(gpu.energy(powered_on + 43_s).value(), 4000.0 + 400.0 + 500.0, 1e-5);
}

// Reading, however often, must not change anything: every process of a session sees the same energy.
TEST(Gpu, EnergyDoesNotDependOnWhenItsStateIsAdvanced) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random{seed};
    PlainCard often{"A40"};
    PlainCard seldom{"A40"};
    Instant now = powered_on;
    for (int event = 0; event < 50; ++event) {
      now = now + Seconds{random.uniform(0.0, 4.0)};
      for (int i = 0; i < 5; ++i) {
        often.gpu.advance(now - Seconds{random.uniform(0.0, 4.0)});
      }
      const Load load =
          Load::square(Demand::of_work(random.uniform(), random.uniform(), random.uniform(0.0, 0.5)),
                       Demand::of_power(Watts{random.uniform(90, 400)}), Seconds{random.uniform(0.001, 3.0)}, now);
      Controls controls = Controls::defaults(often.model);
      controls.requested_limit = Watts{random.uniform(100, 300)};
      for (Gpu* gpu : {&often.gpu, &seldom.gpu}) {
        event % 3 == 0 ? gpu->set_controls(now, controls) : gpu->set_load(now, load);
      }
      const Instant later = now + Seconds{random.uniform(0.0, 5.0)};
      EXPECT_EQ(often.gpu.totals(later), seldom.gpu.totals(later));
      EXPECT_EQ(often.gpu.temperature(later), seldom.gpu.temperature(later));
    }
  }
}

TEST(Gpu, ALateEventCountsAsOfTheLatestOne) {
  PlainCard card{"V100"};
  card.gpu.set_load(powered_on + 2_s, Load::constant(Demand::of_power(200_W)));
  card.gpu.set_load(powered_on + 1_s, Load::constant(Demand::of_power(100_W)));
  EXPECT_NEAR(card.gpu.energy(powered_on + 3_s).value(), 2 * card.model.power.idle.value() + 100.0, 1e-9);
}

TEST(Gpu, TemperatureRisesToWhatThePowerAndTheCoolingSay) {
  PlainCard card{"A100"};
  card.gpu.set_load(powered_on, Load::constant(Demand::of_power(300_W)));
  Celsius before = card.gpu.temperature(powered_on);
  for (int second = 10; second <= 600; second += 10) {
    const Celsius now = card.gpu.temperature(powered_on + Seconds{static_cast<double>(second)});
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_NEAR(before.value(), card.model.thermal.ambient.value() + 300 * card.model.thermal.kelvins_per_watt, 0.05);
}

// More events than slots, close together: the past stays exact at remembered points, and nearly so between them.
TEST(Gpu, LooksBackFurtherThanItsSegments) {
  PlainCard card{"V100"};
  std::vector<std::pair<Instant, Joules>> truth;
  for (int i = 0; i < 2000; ++i) {
    const Instant now = powered_on + Milliseconds{static_cast<double>(i)};
    card.gpu.set_load(now, Load::constant(Demand::of_power(i % 2 == 0 ? 100_W : 200_W)));
    truth.emplace_back(now, card.gpu.energy(now));
  }
  for (const auto& [at, energy] : truth) {
    EXPECT_NEAR(card.gpu.energy(at).value(), energy.value(), 0.2) << "half a mark spacing at 100 W";
  }
}

// One writer, and readers that take no lock: what they see never goes back, and is never torn.
TEST(Gpu, ReadersNeedNoLockDuringAWrite) {
  PlainCard card{"V100"};
  std::atomic<std::int64_t> time{powered_on.nanoseconds};
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      Joules last;
      while (!done) {
        const Instant now{time.load()};
        const Joules energy = card.gpu.energy(now);
        const Watts power = card.gpu.operating_point(now).power;
        // A reader that the writer overtakes by more than 64 events looks its time up between remembered points.
        wrong += energy + Joules{0.2} < last || (power != 100_W && power != 200_W && power != 25_W) ? 1 : 0;
        last = std::max(last, energy);
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    const Instant now = powered_on + Milliseconds{static_cast<double>(i)};
    card.gpu.set_load(now, Load::constant(Demand::of_power(i % 2 == 0 ? 100_W : 200_W)));
    time = now.nanoseconds;
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(wrong, 0);
}

// A writer may be killed between any two stores: what it wrote of the next segment does not belong to the state.
TEST(Gpu, AWriterKilledBeforePublishingLeavesTheStateAsItWas) {
  PlainCard card{"V100"};
  card.gpu.set_load(powered_on, Load::constant(Demand::of_power(100_W)));
  const GpuState before = *card.state;
  card.gpu.set_load(powered_on + 1_ms, Load::constant(Demand::of_power(200_W)));
  // The stores of publish(), in order, without the last one.
  card.state->segments_published = before.segments_published;
  EXPECT_NEAR(card.gpu.energy(powered_on + 0.9_s).value(), 90.0, 1e-9);
  card.gpu.set_load(powered_on + 500_ms, Load::constant(Demand::of_power(50_W)));
  EXPECT_NEAR(card.gpu.energy(powered_on + 1.5_s).value(), 100.0, 1e-9);
}

}  // namespace
}  // namespace zeus::physics
