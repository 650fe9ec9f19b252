#include "measure/shared_errors.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zeus::measure {
namespace {

constexpr std::int64_t half_second = 500'000'000;

// A history of ticks 0.1 s apart, the first one this long after the clock's zero.
History history_of(const std::vector<double>& watts, Seconds first) {
  History history;
  history.period = 0.1_s;
  Instant at = Instant{} + first;
  Joules total;
  for (std::size_t i = 0; i <= watts.size(); ++i) {
    history.ticks.push_back({.number = i, .earliest = at, .latest = at, .total = total, .follows = i > 0});
    total += i < watts.size() ? Watts{watts[i]} * 0.1_s : Joules{};
    at = at + 0.1_s;
  }
  history.row = history.ticks.size();
  return history;
}

std::vector<double> drawn_watts(Random& random, std::size_t count) {
  std::vector<double> watts;
  for (std::size_t i = 0; i < count; ++i) {
    watts.push_back(random.uniform(100, 300));
  }
  return watts;
}

TEST(RecentLoad, ShowsGpusThatDoTheSameAsInStep) {
  Random random{1};
  const auto watts = drawn_watts(random, 40);
  auto half_as_much = watts;
  for (double& one : half_as_much) {
    one /= 2;
  }
  EXPECT_NEAR(in_step(recent_load(history_of(watts, 5_s)), recent_load(history_of(half_as_much, 5_s))), 1.0, 1e-3);
}

TEST(RecentLoad, ShowsLoadsOfTheirOwn) {
  Random random{2};
  double sum = 0;
  constexpr int pairs = 100;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto one = drawn_watts(random, 47);
    const auto other = drawn_watts(random, 47);
    sum += in_step(recent_load(history_of(one, 5_s)), recent_load(history_of(other, 5.03_s)));
  }
  EXPECT_NEAR(sum / pairs, 0.0, 0.1);
}

TEST(RecentLoad, OfTooLittleTimeIsTakenForInStep) {
  Random random{3};
  const RecentLoad one = recent_load(history_of(drawn_watts(random, 2), 5_s));
  const RecentLoad other = recent_load(history_of(drawn_watts(random, 2), 5_s));
  EXPECT_GT(in_step(one, other), 0.7);
  EXPECT_EQ(in_step(RecentLoad{}, RecentLoad{}), 1.0);
}

TEST(RecentLoad, LeavesOutTimesInWhichNothingWasRead) {
  History history = history_of({100, 200, 300, 100, 200, 300}, 5_s);
  for (std::size_t i = 3; i < history.ticks.size(); ++i) {
    Tick& tick = history.ticks[i];
    tick.earliest = tick.latest = tick.latest + 4_s;
    tick.total += 400_J;
  }
  history.ticks[3].follows = false;
  const RecentLoad load = recent_load(history);
  for (std::size_t i = 0; i < load.count; ++i) {
    EXPECT_LE(load.energies[i], 300 * static_cast<double>(load.cell_ns) * 1e-9 + 1e-3);
    EXPECT_TRUE(load.cells[i] * load.cell_ns < 11 * half_second || load.cells[i] * load.cell_ns > 18 * half_second);
  }
  EXPECT_GT(load.count, 4U);
}

// A GPU whose energy depends on one tick, seen in a bracket of a millisecond around this moment.
InWindow with_tick(Seconds middle) {
  InWindow gpu;
  gpu.energy.half_width = gpu.energy.of_ticks = 0.1_J;
  gpu.energy.ticks[0] = {.range = 0.2_J, .bracket = 1_ms, .middle = Instant{} + middle};
  return gpu;
}

TEST(SharedErrors, GpusThatWereReadTogetherShareWhenTheyWereRead) {
  const std::vector gpus{with_tick(1_s), with_tick(1.00001_s), with_tick(1.00002_s)};
  EXPECT_GT(shared_errors(gpus).of_ticks, 0.9);
}

TEST(SharedErrors, GpusThatWereReadAtTimesOfTheirOwnDoNot) {
  Random random{4};
  double sum = 0;
  constexpr int windows = 400;
  for (int window = 0; window < windows; ++window) {
    std::vector<InWindow> gpus;
    for (int gpu = 0; gpu < 8; ++gpu) {
      gpus.push_back(with_tick(Seconds{1 + random.uniform(-0.5e-3, 0.5e-3)}));
    }
    sum += shared_errors(gpus).of_ticks;
  }
  EXPECT_LT(sum / windows, 0.15);
  EXPECT_EQ(shared_errors(std::vector{with_tick(1_s), with_tick(1.03_s)}).of_ticks, 0.0);
}

// A GPU that strays from a line between ticks this long before and after the edge.
InWindow astray(const History& history, Seconds before, Seconds after) {
  InWindow gpu;
  gpu.energy.half_width = 2_J;
  gpu.energy.settled = true;
  gpu.energy.strays[1] = {.variance = JoulesSquared{1.0}, .before = before, .after = after};
  gpu.load = recent_load(history);
  return gpu;
}

TEST(SharedErrors, GpusInStepShareWhatTheLoadDid) {
  Random random{5};
  const History history = history_of(drawn_watts(random, 47), 5_s);
  const std::vector together{astray(history, 40_ms, 60_ms), astray(history, 40_ms, 60_ms)};
  EXPECT_NEAR(shared_errors(together).of_load, 1.0, 0.01);
  // Between ticks of its own, each strays from another line.
  const std::vector apart{astray(history, 40_ms, 60_ms), astray(history, 90_ms, 10_ms)};
  EXPECT_NEAR(shared_errors(apart).of_load, (60 * 10 * 40 + 40 * 90 * 10) / std::sqrt(40. * 60 * 100 * 90 * 10 * 100),
              0.01);
}

TEST(SharedErrors, ALoadOfWhichNothingIsKnownMayBeShared) {
  const std::vector unknown{astray({}, 40_ms, 60_ms), astray({}, 40_ms, 60_ms)};
  Energy energy{.value = 10_J, .uncertainty = 2_J};
  set_parts(energy, unknown[0], shared_errors(unknown));
  EXPECT_EQ(energy.shared, 1.0);
  EXPECT_EQ((energy + energy).uncertainty, 4_J);
}

TEST(SharedErrors, AnEnergyKeepsItsUncertaintyWhateverItsParts) {
  Energy energy{.value = 10_J, .uncertainty = 2_J};
  InWindow gpu = astray({}, 40_ms, 60_ms);
  gpu.energy.of_ticks = 1_J;
  set_parts(energy, gpu, {.of_ticks = 0.5, .of_load = 0.5});
  EXPECT_EQ(energy.uncertainty, 2_J);
  EXPECT_NEAR(energy.shared * energy.shared, 0.25 * 0.5 + 0.75, 1e-9);
  EXPECT_NEAR(energy.own * energy.own, 0.25 * 0.5, 1e-9);
}

}  // namespace
}  // namespace zeus::measure
