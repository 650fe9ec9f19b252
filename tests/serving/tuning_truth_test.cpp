// What a tuning recommends, for served models and bounds drawn at random, on a virtual clock: whether the bounds hold
// in the long run, and how much more energy it takes than the best setting that keeps them.

#include "base/random.hpp"
#include "serving/figures.hpp"
#include "serving/latency_bound.hpp"
#include "serving/tuning.hpp"
#include "situation.hpp"
#include "tests/support/population.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::test {
namespace {

using serving::LatencyBound;
using serving::Timed;

constexpr std::size_t steps = 8;
constexpr std::uint64_t times_as_long = 4;
constexpr std::uint64_t times_for_the_chosen = 24;  // whose bounds are judged, and are mostly near
constexpr std::uint64_t few_models = 6;             // too few for a percentile

double value_at(std::vector<double> values, int percent) {
  const std::size_t place = std::min(values.size() * static_cast<std::size_t>(percent) / 100, values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

const std::vector<double>& times_in(const LongRun& run, Timed timed) {
  return timed == Timed::first ? run.first : run.between;
}

bool keeps(const LongRun& run, const std::vector<LatencyBound>& bounds) {
  return std::ranges::all_of(bounds, [&](const LatencyBound& bound) {
    return value_at(times_in(run, bound.timed), bound.percent) <= bound.most.value();
  });
}

serving::SettingLimits limits_of(const physics::GpuModel& gpu) {
  serving::SettingLimits limits{.lowest = gpu.limits.min, .highest = gpu.limits.max, .clocks = {}};
  for (int i = 0; i < 12; ++i) {
    limits.clocks.push_back(gpu.clocks.max * (1.0 - 0.05 * i));
  }
  return limits;
}

Situation drawn_for_tuning(std::uint64_t number) {
  Situation one = drawn_situation(number + 10'000);
  Random random{20261127, number};
  one.shape.requests = 400 + random.below(400);
  one.memory = random.uniform(0.3, 0.9);
  // A third of the servers refuse some requests.
  one.shape.refused = random.below(3) == 0 ? random.uniform(0.001, 0.02) : 0.0;
  return one;
}

// Without those that refused requests lack.
std::vector<double> answered(std::vector<double> values) {
  std::erase(values, std::numeric_limits<double>::infinity());
  return values;
}

std::vector<LatencyBound> drawn_bounds(const LongRun& highest, std::uint64_t number) {
  Random random{20261128, number};
  std::vector<LatencyBound> bounds;
  const double first = random.uniform(1.1, 3.0);
  const double between = random.uniform(1.05, 2.0);
  const int percent = random.below(2) == 0 ? 50 : 95;
  bounds.push_back(
      {.timed = Timed::first, .most = Seconds{value_at(answered(highest.first), percent) * first}, .percent = percent});
  const int other = random.below(2) == 0 ? 90 : 99;
  bounds.push_back({.timed = Timed::between,
                    .most = Seconds{value_at(answered(highest.between), other) * between},
                    .percent = other});
  return bounds;
}

struct Judged {
  bool recommends = false;
  bool is_broken = false;
  bool one_would_keep = false;
  double more_energy = 0;  // as a part of the least
};

Judged judge(std::uint64_t number) {
  const Situation situation = drawn_for_tuning(number);
  const serving::SettingLimits limits = limits_of(situation.gpus.front());
  const LongRun highest = long_run(situation, times_as_long, PowerSetting{.limit = limits.highest, .clock = {}}, true);
  const std::vector<LatencyBound> bounds = drawn_bounds(highest, number);
  ServedMachine machine{situation};
  serving::Tuning tuning{limits, steps};
  std::optional<serving::BoundedTimes> times;
  for (std::uint64_t run = 0; const auto step = tuning.next(); ++run) {
    machine.set(step->setting);
    Benched benched = machine.bench(situation.seed + 100 + run, step->effort);
    if (step->effort == 1) {
      times.emplace(bounds);
    }
    times->add(benched.run.slices, benched.run.answers);
    tuning.add(std::move(benched.result), times->found(), situation.gpus.size());
  }
  const auto& power = tuning.tried().front().result.steady.power;
  std::vector<PowerSetting> settings{tuning.tried().front().setting};
  if (power) {
    const Watts drawn{power->value / static_cast<double>(situation.gpus.size())};
    const std::vector<PowerSetting> below = settings_below(limits, drawn, steps);
    settings.insert(settings.end(), below.begin(), below.end());
  }
  Judged judged;
  const std::optional<std::size_t> best = tuning.best();
  judged.recommends = best.has_value();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const LongRun run = i == 0 ? highest : long_run(situation, times_as_long, settings[i], true);
    if (keeps(run, bounds)) {
      judged.one_would_keep = true;
      least = std::min(least, run.energy_per_token);
    }
  }
  if (best) {
    const LongRun chosen = long_run(situation, times_for_the_chosen, tuning.tried()[*best].setting, true);
    judged.is_broken = !keeps(chosen, bounds);
    judged.more_energy = chosen.energy_per_token / least - 1;
  }
  return judged;
}

std::uint64_t tuned_population() {
  const char* const wanted = std::getenv("ZEUS_TUNED_MODELS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : drawn<std::uint64_t>(few_models);
}

// Each on its own; on all processors.
std::vector<Judged> judge_all(std::uint64_t count) {
  std::vector<Judged> judged(count);
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t number = next++; number < count; number = next++) {
        judged[number] = judge(number);
      }
    });
  }
  threads.clear();
  return judged;
}

TEST(TuningTruth, BoundsHoldAndLittleEnergyIsLost) {
  const std::uint64_t all = tuned_population();
  std::uint64_t recommended = 0;
  std::uint64_t broken = 0;
  std::uint64_t missed = 0;
  std::vector<double> more;
  for (const Judged& judged : judge_all(all)) {
    recommended += judged.recommends ? 1 : 0;
    broken += judged.is_broken ? 1 : 0;
    missed += !judged.recommends && judged.one_would_keep ? 1 : 0;
    if (judged.recommends && !judged.is_broken) {
      more.push_back(judged.more_energy);
    }
  }
  std::ranges::sort(more);
  const double median = more.empty() ? 0 : more[more.size() / 2];
  const double most = more.empty() ? 0 : more[more.size() * 9 / 10];
  std::printf(
      "%llu served models: %llu recommendations, %llu of them break a bound, %llu models without one that had "
      "one; more energy than the least: median %.4f, 90 %% %.4f\n",
      static_cast<unsigned long long>(all), static_cast<unsigned long long>(recommended),
      static_cast<unsigned long long>(broken), static_cast<unsigned long long>(missed), median, most);
  if (sanitized) {
    return;  // too few to judge
  }
  EXPECT_LE(static_cast<double>(broken), 0.05 * static_cast<double>(recommended));
  if (all > few_models) {
    EXPECT_LE(median, 0.02);
    EXPECT_LE(most, 0.05);
  } else {
    EXPECT_LE(median, 0.05);  // of so few, chance alone moves it
  }
}

}  // namespace
}  // namespace zeus::test
