#include "measure/history.hpp"

#include "measure/unseen.hpp"

#include <algorithm>
#include <iterator>

namespace zeus::measure {

namespace {

constexpr Seconds usual_update{0.1};
constexpr double close = 0.06;               // of the period: a tick known this closely is not placed again
constexpr double same_time = 0.06;           // of an update: a tick and a sample this close belong together
constexpr std::size_t samples_are_late = 3;  // a sample may arrive this many ticks late
constexpr int updates_before = 12;           // updates that show the load before the first reading

}  // namespace

Seconds History::update() const {
  return timing ? timing->period : usual_update;
}

bool History::may_move(std::size_t tick) const {
  const Seconds rough = ticks[tick].placed_within.value_or(ticks[tick].width());
  return tick + placed_by >= ticks.size() && (!period || rough > *period * close);
}

void History::add(std::span<const device::Stamped<Watts>> samples) {
  for (const auto& sample : samples) {
    if (sample.at <= latest_sample) {
      continue;
    }
    latest_sample = sample.at;
    if (!runs.empty() && runs.back().value == sample.value && sample.at - runs.back().last < update() * 1.5) {
      runs.back().last = sample.at;
    } else {
      runs.push_back({sample.value, sample.at, sample.at});
    }
    if (runs.size() > runs_kept) {
      runs.erase(runs.begin());
    }
  }
  assign_samples();
}

void History::assign_samples() {
  for (std::size_t i = ticks.size() - std::min(ticks.size(), samples_are_late); i < ticks.size(); ++i) {
    ticks[i].sample = sample_at(ticks[i].middle());
    if (!ticks[i].follows) {
      ticks[i].before = mean_before(ticks[i].middle());
    }
    if (i > 0) {
      ticks[i].unseen = ticks[i - 1].unseen + unseen_between(ticks[i - 1], ticks[i], timing);
    }
  }
}

std::optional<Watts> History::sample_at(Instant tick) const {
  if (!timing) {
    return std::nullopt;
  }
  const Seconds near = timing->period * same_time;
  const auto found =
      std::ranges::find_if(runs.rbegin(), runs.rend(), [&](const SampleRun& run) { return run.first <= tick + near; });
  if (found == runs.rend() || found->last < tick - near) {
    return std::nullopt;
  }
  const bool came_with_it = found->first >= tick - near;
  const bool held_until_next = found == runs.rbegin() || std::prev(found)->first - tick > timing->period * 0.9;
  return came_with_it || held_until_next ? std::optional{found->value} : std::nullopt;
}

std::optional<Watts> History::mean_before(Instant at) const {
  Watts sum;
  double count = 0;
  for (int back = 0; back < updates_before; ++back) {
    const Instant updated = at - update() * static_cast<double>(back);
    const auto run = std::ranges::find_if(
        runs.rbegin(), runs.rend(), [&](const SampleRun& r) { return r.first <= updated + update() * same_time; });
    if (run != runs.rend() && run->last >= updated - update()) {
      sum += run->value;
      ++count;
    }
  }
  return count > 0 ? std::optional{sum / count} : std::nullopt;
}

}  // namespace zeus::measure
