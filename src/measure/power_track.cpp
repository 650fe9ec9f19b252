#include "measure/power_track.hpp"

#include <algorithm>
#include <iterator>

namespace zeus::measure {

PowerTrack::PowerTrack(Seconds lag) : lag_{lag} {
  readings_.reserve(2 * depth);
  sums_.reserve(2 * depth);
}

void PowerTrack::add(const device::Stamped<Watts>& reading) {
  device::Stamped<Watts> held = reading;
  held.at = reading.at - lag_;
  if (!readings_.empty() && held.at <= readings_.back().at) {
    return;
  }
  Sum sum;
  if (since_break_ > 0) {
    const Seconds length = held.at - readings_.back().at;
    // The change came somewhere between the two readings.
    const Joules doubtful = (held.value - readings_.back().value) * length;
    sum = {sums_.back().energy + readings_.back().value * length, sums_.back().variance + square(doubtful) / 12.0};
  }
  if (readings_.size() == 2 * depth) {
    readings_.erase(readings_.begin(), readings_.begin() + depth);
    sums_.erase(sums_.begin(), sums_.begin() + depth);
  }
  readings_.push_back(held);
  sums_.push_back(sum);
  since_break_ = std::min(since_break_ + 1, depth);
}

void PowerTrack::break_off() {
  if (since_break_ > 0) {
    since_break_ = 0;
    ++epoch_;
  }
}

std::optional<Edge> PowerTrack::edge(Instant at) const {
  if (since_break_ == 0) {
    return std::nullopt;
  }
  const auto first = readings_.end() - static_cast<std::ptrdiff_t>(since_break_);
  const auto next = std::upper_bound(first, readings_.end(), at,
                                     [](Instant instant, const auto& reading) { return instant < reading.at; });
  const auto held = next == first ? first : std::prev(next);
  const Sum& sum = sums_[static_cast<std::size_t>(held - readings_.begin())];
  Edge edge{.at = at, .total = sum.energy + held->value * (at - held->at), .epoch = epoch_};
  // An edge between two readings that differ, or after the last one, inherits the uncertainty of that step.
  const auto other = next == readings_.end() ? held : next;
  const auto before = held == first ? held : std::prev(held);
  const Watts change =
      std::max(abs(other->value - held->value), next == readings_.end() ? abs(held->value - before->value) : Watts{0});
  const Seconds gap = held == first ? Seconds{0} : held->at - before->at;
  edge.own = square(change * gap) / 4.0;
  edge.gathered = sum.variance;
  return edge;
}

std::size_t PowerTrack::readings_between(Instant from, Instant to) const {
  const auto first = std::ranges::lower_bound(readings_, from, {}, &device::Stamped<Watts>::at);
  const auto after = std::ranges::upper_bound(first, readings_.end(), to, {}, &device::Stamped<Watts>::at);
  return static_cast<std::size_t>(after - first);
}

std::optional<Instant> PowerTrack::latest() const {
  return readings_.empty() ? std::nullopt : std::optional{readings_.back().at};
}

}  // namespace zeus::measure
