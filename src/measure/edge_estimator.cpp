#include "measure/edge_estimator.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr std::size_t updates_kept = 64;
constexpr double memory = 12;            // ticks over which doubts are averaged
constexpr double stray_of_cells = 1.45;  // of what a straight line strays, cells stray
constexpr double doubt_of_predictions = 1.2;

double square(double x) {
  return x * x;
}

Seconds timing_doubt(const Tick& tick) {
  return tick.width() / std::sqrt(12.0);
}

}  // namespace

CounterTrack::Observation EdgeEstimator::observe(Instant at, Seconds latency, Joules value) {
  const auto observation = track_.observe(at, latency, value);
  if (observation == CounterTrack::Observation::first || observation == CounterTrack::Observation::broken) {
    sample_awaited_ = true;
  }
  if (observation == CounterTrack::Observation::ticked) {
    judge_predictions();
    predict();
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
    const bool repeated = !updates_.empty() && timing_ && updates_.back().value == sample.value &&
                          sample.at - updates_.back().at < timing_->period * 0.95;
    if (!repeated) {
      updates_.push_back(sample);
    }
    if (updates_.size() > updates_kept) {
      updates_.pop_front();
    }
  }
  if (sample_awaited_) {
    judge_straight_line();
    predict();
  }
}

void EdgeEstimator::pause() {
  track_.pause();
}

// The sensor's update that came with the tick, if it did: its window then ends where the tick is.
std::optional<device::Stamped<Watts>> EdgeEstimator::sample_before(Instant tick) const {
  if (!timing_) {
    return std::nullopt;
  }
  const Seconds near = timing_->period * 0.06;
  const auto found = std::ranges::find_if(updates_.rbegin(), updates_.rend(),
                                          [&](const auto& update) { return update.at <= tick + near; });
  if (found == updates_.rend() || tick - found->at > near) {
    return std::nullopt;
  }
  return *found;
}

void EdgeEstimator::cells_between(const Tick& lower, const Tick& upper, Cells& cells) const {
  const Instant from = lower.middle();
  const Instant to = upper.middle();
  const Joules energy = upper.total - lower.total;
  const auto sample = sample_before(to);
  if (sample && timing_->window < (to - from) * 0.9) {
    const Instant knot = to - timing_->window;
    const Watts before = (energy - sample->value * timing_->window) / (knot - from);
    if (before > Watts{0}) {
      cells.at[cells.count++] = {from, knot, before};
      cells.at[cells.count++] = {knot, to, sample->value};
      return;
    }
  }
  cells.at[cells.count++] = {from, to, energy / (to - from)};
}

Watts EdgeEstimator::last_mean() const {
  const auto& ticks = track_.ticks();
  const Tick& last = ticks.back();
  const Tick& before = ticks[ticks.size() - 2];
  return (last.total - before.total) / (last.middle() - before.middle());
}

void EdgeEstimator::predict() {
  if (track_.ticks().empty()) {
    return;
  }
  if (track_.ticks().size() == 1) {
    predict_from_samples();
    return;
  }
  const Watts mean = last_mean();
  const auto sample = sample_before(track_.ticks().back().middle());
  predicted_ = {mean, sample ? sample->value : mean, long_mean_.value_or(mean)};
}

// After a pause: what the driver's ring says of the time just before.
void EdgeEstimator::predict_from_samples() {
  if (updates_.empty()) {
    return;
  }
  const auto count = std::min<std::size_t>(updates_.size(), static_cast<std::size_t>(memory));
  Watts sum;
  for (std::size_t i = updates_.size() - count; i < updates_.size(); ++i) {
    sum += updates_[i].value;
  }
  const Watts mean = sum / static_cast<double>(count);
  predicted_ = {mean, updates_.back().value, mean};
  if (misses_ > 0) {
    return;
  }
  double squares = 0;
  for (std::size_t i = updates_.size() - count; i < updates_.size(); ++i) {
    squares += square((updates_[i].value - mean).value());
  }
  squared_miss_.fill(squares / static_cast<double>(count));
}

// Holds what was predicted for the tick that has just come against what it brought.
void EdgeEstimator::judge_predictions() {
  if (track_.ticks().size() < 2) {
    return;
  }
  const Watts mean = last_mean();
  if (track_.ticks().size() > 2) {
    misses_ = std::min(misses_ + 1, memory);
    for (std::size_t i = 0; i < predictor_count; ++i) {
      squared_miss_[i] += (square((predicted_[i] - mean).value()) - squared_miss_[i]) / misses_;
    }
  }
  long_mean_ = long_mean_ ? *long_mean_ + (mean - *long_mean_) / std::min(misses_ + 1, memory) : mean;
}

// Holds a straight line between the last two ticks against the sample that says where the energy was in between.
void EdgeEstimator::judge_straight_line() {
  if (track_.ticks().size() < 2) {
    return;
  }
  const auto sample = sample_before(track_.ticks().back().middle());
  if (!sample) {
    return;
  }
  sample_awaited_ = false;
  strays_ = std::min(strays_ + 1, memory);
  squared_stray_ += (square(((sample->value - last_mean()) * timing_->window).value()) - squared_stray_) / strays_;
}

Edge EdgeEstimator::settled_edge(std::size_t lower, Instant at) const {
  const auto& ticks = track_.ticks();
  Cells cells;
  const std::size_t first = lower >= reach ? lower - reach : 0;
  const std::size_t last = std::min(lower + reach + 1, ticks.size() - 1);
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
  const CellPath path = path_within(cells, here, at, Joules{std::sqrt(squared_stray_)} * stray_of_cells);
  const double fraction = std::clamp((at - start) / (ticks[lower + 1].middle() - start), 0.0, 1.0);
  return {.at = at,
          .total = energy + path.energy,
          .epoch = track_.epoch(),
          .tick = ticks[lower].number,
          .settled = true,
          .lower_weight = path.power * -(1.0 - fraction),
          .upper_weight = path.power * -fraction,
          .lower_doubt = timing_doubt(ticks[lower]),
          .upper_doubt = timing_doubt(ticks[lower + 1]),
          .fraction = fraction,
          .stray = path.stray + resolution_};
}

Edge EdgeEstimator::predicted_edge(Instant at) const {
  const auto& ticks = track_.ticks();
  const Tick& last = ticks.back();
  Edge edge{.at = at, .total = last.total, .epoch = track_.epoch(), .tick = last.number};
  edge.elapsed = std::max(Seconds{0}, at - last.middle());
  edge.stray = Joules{std::sqrt(squared_stray_)} * stray_of_cells + resolution_;
  if (predicted_[same_as_long_mean] > Watts{0}) {
    const auto best = static_cast<std::size_t>(std::ranges::min_element(squared_miss_) - squared_miss_.begin());
    edge.total += predicted_[best] * edge.elapsed;
    edge.lower_weight = predicted_[best] * -1.0;
    edge.lower_doubt = timing_doubt(last);
    edge.power_doubt = Watts{std::sqrt(squared_miss_[best])} * doubt_of_predictions;
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
