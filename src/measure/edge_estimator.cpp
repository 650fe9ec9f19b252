#include "measure/edge_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::measure {

namespace {

constexpr std::size_t runs_kept = 64;
constexpr Seconds usual_update{0.1};  // of sensors that nothing is known of
constexpr double memory = 12;         // ticks over which doubts are averaged

double square(double x) {
  return x * x;
}

}  // namespace

CounterTrack::Observation EdgeEstimator::observe(Instant at, Seconds latency, Joules value) {
  const auto observation = track_.observe(at, latency, value);
  if (observation == CounterTrack::Observation::first || observation == CounterTrack::Observation::broken) {
    sample_awaited_ = true;
  }
  if (observation == CounterTrack::Observation::ticked) {
    learn_tick();
    sample_awaited_ = true;
  }
  return observation;
}

void EdgeEstimator::observe_samples(std::span<const device::Stamped<Watts>> samples) {
  for (const auto& sample : samples) {
    if (sample.at <= latest_sample_) {
      continue;
    }
    latest_sample_ = sample.at;
    const Seconds update = timing_ ? timing_->period : usual_update;
    if (!runs_.empty() && runs_.back().value == sample.value && sample.at - runs_.back().last < update * 1.5) {
      runs_.back().last = sample.at;
    } else {
      runs_.push_back({sample.value, sample.at, sample.at});
    }
    if (runs_.size() > runs_kept) {
      runs_.pop_front();
    }
  }
  if (sample_awaited_) {
    learn_sample();
  }
}

void EdgeEstimator::pause() {
  track_.pause();
  unseen_.pause();
}

// What the sensor was updated to with the tick: its window ends where the tick is. A value that changes at another time
// says that the two do not come together.
std::optional<Watts> EdgeEstimator::sample_before(Instant tick) const {
  if (!timing_) {
    return std::nullopt;
  }
  const Seconds near = timing_->period * 0.06;
  const auto found =
      std::ranges::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& run) { return run.first <= tick + near; });
  if (found == runs_.rend() || found->last < tick - near) {
    return std::nullopt;
  }
  const bool came_with_it = found->first >= tick - near;
  const bool held_until_next = found == runs_.rbegin() || std::prev(found)->first - tick > timing_->period * 0.9;
  return came_with_it || held_until_next ? std::optional{found->value} : std::nullopt;
}

void EdgeEstimator::cells_between(const Tick& lower, const Tick& upper, Cells& cells) const {
  const Instant from = lower.middle();
  const Instant to = upper.middle();
  const Joules energy = upper.total - lower.total;
  const Seconds brackets{std::hypot(lower.width().value(), upper.width().value()) / std::sqrt(12.0)};
  const auto sample = sample_before(to);
  if (sample && timing_->window < (to - from) * 0.9) {
    const Instant knot = to - timing_->window;
    const Watts before = (energy - *sample * timing_->window) / (knot - from);
    if (before > Watts{0}) {
      cells.at[cells.count++] = {from, knot, before, before * (brackets / (knot - from))};
      cells.at[cells.count++] = {knot, to, *sample, Watts{0}};
      return;
    }
  }
  const Watts mean = energy / (to - from);
  cells.at[cells.count++] = {from, to, mean, mean * (brackets / (to - from))};
}

// Before the oldest tick, the ring of samples knows levels all the same.
void EdgeEstimator::cells_before(Instant oldest, Cells& cells) const {
  if (!timing_) {
    return;
  }
  for (const double periods : {2.0, 1.0, 0.0}) {
    if (const auto sample = sample_before(oldest - timing_->period * periods)) {
      const Instant to = oldest - timing_->period * periods;
      cells.at[cells.count++] = {to - timing_->window, to, *sample, Watts{0}};
    }
  }
}

Watts EdgeEstimator::last_mean() const {
  const auto& ticks = track_.ticks();
  const Tick& last = ticks.back();
  const Tick& before = ticks[ticks.size() - 2];
  return (last.total - before.total) / (last.middle() - before.middle());
}

// After a pause: what the driver's ring says of the time just before.
void EdgeEstimator::begin_forecast() {
  const Seconds update = timing_ ? timing_->period : usual_update;
  std::vector<Watts> powers;
  for (double back = memory - 1; back >= 0; --back) {
    const Instant at = latest_sample_ - update * back;
    const auto run =
        std::ranges::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& r) { return r.first <= at + update * 0.06; });
    if (run != runs_.rend() && run->last >= at - update) {
      powers.push_back(run->value);
    }
  }
  forecast_.begin_with(powers);
}

void EdgeEstimator::learn_tick() {
  const auto& ticks = track_.ticks();
  if (ticks.size() < 2) {
    begin_forecast();
    return;
  }
  const Tick& last = ticks.back();
  const Tick& before = ticks[ticks.size() - 2];
  const double brackets = (square(last.width().value()) + square(before.width().value())) / 12.0;
  forecast_.tick_came(last.total - before.total, last.middle() - before.middle(),
                      square(last_mean().value()) * brackets, ticks.size() > 2);
}

// Holds a straight line between the last two ticks against the sample that says where the energy was in between. Of a
// wave with any phase at the ticks and where the sample begins, the line misses the part of all three.
void EdgeEstimator::learn_sample() {
  const auto& ticks = track_.ticks();
  if (ticks.size() < 2) {
    begin_forecast();
    return;
  }
  const auto sample = sample_before(ticks.back().middle());
  if (!sample) {
    return;
  }
  sample_awaited_ = false;
  forecast_.sample_came(*sample, timing_->window);
  const Tick& before = ticks[ticks.size() - 2];
  const Seconds length = ticks.back().middle() - before.middle();
  const Seconds brackets{std::hypot(before.width().value(), ticks.back().width().value()) / std::sqrt(12.0)};
  unseen_.tick_came(ticks.back().number, last_mean(), last_mean() * (brackets / length), length, *sample,
                    timing_->window);
  waves_ = std::min(waves_ + 1, memory);
  const double part = timing_->window / length;
  const double missed = square(((*sample - last_mean()) * timing_->window).value());
  wave_ += (missed / (1.0 + square(part) + square(1.0 - part)) - wave_) / waves_;
}

Edge EdgeEstimator::settled_edge(std::size_t lower, Instant at) const {
  const auto& ticks = track_.ticks();
  Cells cells;
  cells.tick = track_.period().value_or(Seconds{0});
  cells.most_power = most_;
  const std::size_t first = lower >= reach ? lower - reach : 0;
  const std::size_t last = std::min(lower + reach + 1, ticks.size() - 1);
  if (first == 0) {
    cells_before(ticks.front().middle(), cells);
  }
  for (std::size_t i = first; i < last; ++i) {
    cells_between(ticks[i], ticks[i + 1], cells);
  }
  std::size_t here = 0;
  while (here + 1 < cells.count && cells.at[here].to <= at) {
    ++here;
  }
  const Instant start = ticks[lower].middle();
  Joules energy = ticks[lower].total;
  for (std::size_t i = 0; i < here; ++i) {
    if (cells.at[i].from >= start) {
      energy += cells.at[i].power * cells.at[i].length();
    }
  }
  const CellPath path = path_within(cells, here, at, wave_);
  const Cell& cell = cells.at[here];
  // What is drawn up to the first cell's end goes by both ticks, what comes after by the upper one alone.
  const auto own = std::find_if(cells.at.begin(), cells.at.end(), [&](const Cell& c) { return c.from == start; });
  const double share = std::clamp((at - start) / own->length(), 0.0, 1.0);
  const Tick& upper = ticks[lower + 1];
  const std::optional<Seconds>& placed = ticks[lower].placed_within;
  return {.at = at,
          .total = energy + path.energy,
          .epoch = track_.epoch(),
          .tick = ticks[lower].number,
          .settled = true,
          .lower_weight = path.power * -(1.0 - share),
          .upper_weight = path.power * -(placed ? 1.0 : share),
          .lower_bracket = placed.value_or(ticks[lower].width()),
          .upper_bracket = upper.width(),
          .cell = cell.from,
          .fraction = std::clamp((at - cell.from) / cell.length(), 0.0, 1.0),
          .deviation = path.deviation,
          .unseen = unseen_.up_to(ticks[lower].number),
          .resolution = resolution_};
}

Edge EdgeEstimator::predicted_edge(Instant at) const {
  const auto& ticks = track_.ticks();
  const Tick& last = ticks.back();
  Edge edge{.at = at, .total = last.total, .epoch = track_.epoch(), .tick = last.number};
  edge.elapsed = std::max(Seconds{0}, at - last.middle());
  edge.resolution = resolution_;
  edge.unseen = unseen_.up_to(last.number);
  if (forecast_.knows()) {
    edge.total += forecast_.power() * edge.elapsed;
    edge.lower_weight = forecast_.power() * -1.0;
    edge.lower_bracket = last.width();
    edge.spread = forecast_.spread(2.0 * wave_);
  }
  return edge;
}

std::optional<Edge> EdgeEstimator::edge(Instant at) const {
  const auto& ticks = track_.ticks();
  if (ticks.empty()) {
    return std::nullopt;
  }
  if (at >= ticks.back().middle()) {
    return stands_still(at) ? std::nullopt : std::optional{predicted_edge(at)};
  }
  for (std::size_t i = ticks.size() - 1; i > 0; --i) {
    if (at >= ticks[i - 1].middle()) {
      return settled_edge(i - 1, at);
    }
  }
  return std::nullopt;
}

bool EdgeEstimator::stands_still(Instant at) const {
  const Seconds longest = std::max(1_s, track_.period().value_or(Seconds{0}) * 5.0);
  return !track_.ticks().empty() && at - track_.ticks().back().middle() > longest;
}

bool EdgeEstimator::final(Instant at) const {
  const auto& ticks = track_.ticks();
  return ticks.size() > reach && ticks[ticks.size() - reach].middle() > at;
}

}  // namespace zeus::measure
