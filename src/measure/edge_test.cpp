#include "measure/edge.hpp"

#include "base/random.hpp"
#include "measure/counter_track.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace zeus::measure {
namespace {

constexpr Instant switched_on{1'000'000'000};

// A GPU under steps to any power at any time, and the history of a reader that watches it for `time`.
struct Watched {
  CounterTrack track;
  std::vector<device::Stamped<Watts>> samples;

  Watched(std::uint64_t seed, const char* card, Seconds between_steps, Seconds time, bool pauses = false,
          Seconds late = 50e-6_s)
      : track{{.resolution = Joules{1e-3}, .wraps_at = {}}, sensor_timing({.name = card})} {
    Random random{seed};
    const physics::GpuModel model = physics::preset(card);
    physics::GpuState state;
    physics::Gpu gpu{model, state};
    Instant now = switched_on;
    Instant step = switched_on;
    Instant pause = pauses ? switched_on + 1_s : switched_on + time * 2.0;
    gpu.start(now);
    while (now < switched_on + time) {
      Instant next = track.next_reading(now) + late * random.uniform(0.02, 1);
      if (next > pause) {
        track.pause();
        next = now + 2.3_s;
        pause = next + 1_s;
      }
      while (step < next) {
        gpu.set_load(step, physics::Load::constant(physics::Demand::of_power(Watts{random.uniform(80, 300)})));
        step = step + between_steps * random.exponential();
      }
      now = next;
      gpu.advance(now);
      const physics::Sensors sensors{gpu};
      if (track.observe(now, Seconds{2e-6}, sensors.counter(now)->value) == CounterTrack::Observation::ticked) {
        std::array<physics::PowerReading, 128> ring;
        const std::size_t count = sensors.samples(now, track.history().latest_sample, ring);
        std::vector<device::Stamped<Watts>> batch;
        for (std::size_t i = 0; i < count; ++i) {
          batch.push_back({.value = ring[i].value, .at = ring[i].updated});
        }
        track.observe_samples(batch);
        samples.insert(samples.end(), batch.begin(), batch.end());
      }
    }
  }

  [[nodiscard]] const History& history() const { return track.history(); }
  [[nodiscard]] Instant first() const {
    return (history().ticks.end() - static_cast<std::ptrdiff_t>(history().row))->middle();
  }
  [[nodiscard]] Instant last() const { return history().ticks.back().middle(); }
};

class EdgeOfAHistory : public testing::TestWithParam<const char*> {
 protected:
  static void for_each_history(const auto& see) {
    for (const double between_ms : {10.0, 30.0, 100.0, 400.0}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(testing::Message() << "steps " << between_ms << " ms apart, seed " << seed);
        see(Watched{seed, GetParam(), Milliseconds{between_ms}, 4.7_s, seed % 2 == 1});
      }
    }
  }
};

TEST_P(EdgeOfAHistory, NeverGoesBack) {
  for_each_history([](const Watched& watched) {
    const Calibration calibration = calibrate(watched.history());
    Joules before{-1};
    for (Instant at = watched.first(); at < watched.last() + 0.1_s; at = at + 0.7_ms) {
      const auto here = edge(watched.history(), calibration, at);
      ASSERT_TRUE(here);
      EXPECT_GE(here->total, before - Joules{1e-9});
      before = here->total;
    }
  });
}

TEST_P(EdgeOfAHistory, EqualsTheCounterAtATick) {
  for_each_history([](const Watched& watched) {
    const Calibration calibration = calibrate(watched.history());
    for (const Tick& tick : watched.history().ticks) {
      if (tick.middle() >= watched.first()) {
        EXPECT_NEAR(edge(watched.history(), calibration, tick.middle())->total.value(), tick.total.value(), 1e-6);
      }
    }
  });
}

TEST_P(EdgeOfAHistory, AdjacentWindowsAddUpToTheWhole) {
  for_each_history([](const Watched& watched) {
    const Calibration calibration = calibrate(watched.history());
    Random random{7};
    const Seconds time = watched.last() + 0.08_s - watched.first();
    for (int i = 0; i < 200; ++i) {
      std::array<double, 3> at{random.uniform(), 0, 0};
      at[1] = random.uniform();
      at[2] = random.uniform();
      std::ranges::sort(at);
      const auto edge_at = [&](double part) {
        return *edge(watched.history(), calibration, watched.first() + time * part);
      };
      const auto left = energy_between(edge_at(at[0]), edge_at(at[1]));
      const auto right = energy_between(edge_at(at[1]), edge_at(at[2]));
      const auto whole = energy_between(edge_at(at[0]), edge_at(at[2]));
      EXPECT_NEAR((left.value + right.value).value(), whole.value.value(), 1e-9);
      EXPECT_GE(whole.half_width, Joules{0});
      EXPECT_TRUE(std::isfinite(whole.half_width.value()));
    }
  });
}

TEST_P(EdgeOfAHistory, AnEmptyWindowHasNoEnergyAndOnlyTheCountersUncertainty) {
  for_each_history([](const Watched& watched) {
    const Calibration calibration = calibrate(watched.history());
    for (Instant at = watched.first(); at < watched.last() + 0.08_s; at = at + 7.1_ms) {
      const auto here = *edge(watched.history(), calibration, at);
      const auto none = energy_between(here, here);
      EXPECT_EQ(none.value, Joules{0});
      EXPECT_LT(none.half_width, std::max(Joules{2e-3}, root(here.spread.wave + here.deviation.wave) * 4.0));
    }
  });
}

TEST_P(EdgeOfAHistory, DoesNotHangOnHowSamplesWereHandedOver) {
  for_each_history([](const Watched& watched) {
    if (watched.history().row < watched.history().ticks.size()) {
      return;  // runs of samples reach back farther than the ticks of one row
    }
    History one_by_one = watched.history();
    one_by_one.runs.clear();
    one_by_one.latest_sample = Instant{};
    History at_once = one_by_one;
    for (std::size_t i = 0; i < watched.samples.size(); ++i) {
      const std::size_t known = std::min<std::size_t>(i, 3);  // and those before it again
      one_by_one.add(std::span{watched.samples}.subspan(i - known, known + 1));
    }
    at_once.add(watched.samples);
    const Calibration by_one = calibrate(one_by_one);
    const Calibration by_all = calibrate(at_once);
    for (Instant at = watched.first(); at < watched.last() + 0.08_s; at = at + 3.3_ms) {
      const auto left = *edge(one_by_one, by_one, at);
      const auto right = *edge(at_once, by_all, at);
      EXPECT_EQ(left.total, right.total);
      EXPECT_EQ(left.deviation.step, right.deviation.step);
    }
  });
}

TEST_P(EdgeOfAHistory, IsFinalWhenTheTicksAfterItAreSeen) {
  for_each_history([](const Watched& watched) {
    History early = watched.history();
    if (early.row < 10) {
      return;
    }
    for (int i = 0; i < 4; ++i) {
      early.ticks.pop_back();
      --early.row;
    }
    const Calibration calibration = calibrate(early);
    const Calibration later = calibrate(watched.history());
    for (Instant at = watched.first(); at < watched.last(); at = at + 1.9_ms) {
      if (is_final(early, at)) {
        EXPECT_EQ(edge(early, calibration, at)->total, edge(watched.history(), later, at)->total);
      }
    }
  });
}

TEST_P(EdgeOfAHistory, IsUnknownWithoutReadings) {
  Watched watched{1, GetParam(), 100_ms, 4.7_s, true};
  const Calibration calibration = calibrate(watched.history());
  EXPECT_FALSE(edge(watched.history(), calibration, watched.first() - 1_ms));
  EXPECT_FALSE(edge(watched.history(), calibration, watched.last() + 1.1_s));
  watched.track.pause();
  EXPECT_FALSE(edge(watched.history(), calibration, watched.last() + 1_ms));
}

INSTANTIATE_TEST_SUITE_P(Cards, EdgeOfAHistory, testing::Values("A100", "V100"),
                         [](const auto& card) { return std::string{card.param}; });

// Compares the interval with the actual error of an edge at the last tick, from the history without that tick.
TEST(CalibrationOfAHistory, HoldsTheTickThatWasDenied) {
  int held = 0;
  constexpr int histories = 400;
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    const Watched watched{seed, "V100", 30_ms, 1.2_s};
    History denied = watched.history();
    const Tick tick = denied.ticks.back();
    denied.ticks.pop_back();
    --denied.row;
    const Calibration calibration = calibrate(denied);
    const auto predicted = *edge(denied, calibration, tick.middle());
    const auto known = *edge(denied, calibration, denied.ticks.back().middle());
    const auto energy = energy_between(known, predicted);
    const Joules truth = tick.total - denied.ticks.back().total;
    held += abs(energy.value - truth) <= energy.half_width ? 1 : 0;
  }
  EXPECT_GT(held, histories * 0.95 - 3 * std::sqrt(histories * 0.95 * 0.05));
  EXPECT_LT(held, histories);
}

// Ticks that were seen late may seem to be closer together than a sample's window is long.
TEST(Edge, AfterTicksTooCloseForTheirSampleHasAnInterval) {
  for (const Seconds last : {0.01_s, 0.025_s, 0.1_s}) {
    SCOPED_TRACE(last.value());
    History history;
    history.timing = SensorTiming{.period = 0.1_s, .window = 0.025_s};
    history.period = 0.1_s;
    Instant at = switched_on;
    Joules total;
    for (std::uint64_t number = 1; number <= 6; ++number) {
      const Seconds length = number == 6 ? last : 0.1_s;
      at = at + length;
      total += length * (number % 2 == 0 ? 150_W : 250_W);
      history.ticks.push_back({.number = number,
                               .earliest = at,
                               .latest = at,
                               .total = total,
                               .follows = number > 1,
                               .sample = number % 2 == 0 ? 170_W : 240_W});
    }
    history.row = history.ticks.size();
    const Calibration calibration = calibrate(history);
    for (const Seconds later : {0_s, 0.001_s, 0.04_s, 0.15_s}) {
      const EnergyBetween energy =
          energy_between(*edge(history, calibration, switched_on + 0.25_s), *edge(history, calibration, at + later));
      EXPECT_TRUE(std::isfinite(energy.half_width.value())) << later.value();
      EXPECT_GE(energy.half_width, 0_J);
    }
  }
}

// On a busy machine the counter is read late, now and then by many periods, while the load stays the same.
TEST_P(EdgeOfAHistory, HasAnIntervalHoweverLateTheCounterIsRead) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random{seed};
    const Watched watched{seed, GetParam(), 100_s, 4.7_s, false, Milliseconds{random.uniform(1, 60)}};
    const Calibration calibration = calibrate(watched.history());
    for (int i = 0; i < 200; ++i) {
      const Instant from = watched.first() + (watched.last() - watched.first()) * random.uniform(0, 1);
      const Instant to = from + (watched.last() + 0.05_s - from) * random.uniform(0, 1);
      const auto begin = edge(watched.history(), calibration, from);
      const auto end = edge(watched.history(), calibration, to);
      ASSERT_TRUE(begin && end);
      const EnergyBetween energy = energy_between(*begin, *end);
      ASSERT_TRUE(std::isfinite(energy.half_width.value())) << to - from;
      ASSERT_GE(energy.half_width, 0_J);
    }
  }
}

}  // namespace
}  // namespace zeus::measure
