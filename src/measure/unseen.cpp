#include "measure/unseen.hpp"

#include "measure/counter_track.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace zeus::measure {

namespace {

constexpr int enough_matches = 3;    // each by chance in one of fifty cases
constexpr double noticeable = 0.05;  // of power, for a change
constexpr double same_power = 0.005;
constexpr double memory = 12;
constexpr double repeating = 0.05;  // of what samples in a row differ by, squared
constexpr int enough_pairs = 3;     // of samples, to say that they do not repeat

double square(double x) {
  return x * x;
}

}  // namespace

void UnseenTime::tick_came(std::uint64_t number, Watts mean, Watts doubt, Seconds length, Watts sample,
                           Seconds window) {
  Seen now{number, sample, seen_.empty() ? 0.0 : seen_.back().variance};
  length_ = length - window;
  if (last_sample_) {
    const Watts change{std::abs((sample - *last_sample_).value())};
    if (change > sample * noticeable) {
      const Watts apart{std::abs((mean - sample).value())};
      matches_ = apart <= doubt * 3.0 + sample * same_power ? std::min(matches_ + 1, enough_matches) : 0;
    }
    now.variance += square((change * length_).value()) / 12.0;  // it came anywhere in the time unseen
    changes_ = std::min(changes_ + 1, memory);
    squared_change_ += (square(change.value()) - squared_change_) / changes_;
  }
  last_sample_ = sample;
  seen_.push_back(now);
  if (seen_.size() > CounterTrack::depth) {
    seen_.pop_front();
  }
}

bool UnseenTime::suspected() const {
  return matches_ >= enough_matches;
}

// A cycle that is too long to have been seen repeating cannot be ruled out.
bool UnseenTime::may_repeat_after(std::size_t ticks) const {
  double squares = 0;
  int pairs = 0;
  for (std::size_t i = ticks; i < seen_.size(); ++i) {
    if (seen_[i].tick - seen_[i - ticks].tick == ticks) {
      squares += square((seen_[i].sample - seen_[i - ticks].sample).value());
      ++pairs;
    }
  }
  return pairs < enough_pairs || squares <= repeating * squared_change_ * pairs;
}

std::size_t UnseenTime::shortest_cycle() const {
  std::size_t cycle = 1;
  while (!may_repeat_after(cycle)) {
    ++cycle;
  }
  return cycle;
}

Unseen UnseenTime::up_to(std::uint64_t tick) const {
  const auto next = std::ranges::upper_bound(seen_, tick, {}, &Seen::tick);
  if (next == seen_.begin()) {
    return {};
  }
  const Seen& seen = *std::prev(next);
  Unseen unseen{.suspected = suspected(), .variance = seen.variance};
  if (unseen.suspected) {
    unseen.cycle = static_cast<double>(shortest_cycle());
    unseen.level = seen.sample * length_;
    unseen.own_variance = squared_change_ * square(length_.value()) / 6.0;
  }
  return unseen;
}

}  // namespace zeus::measure
