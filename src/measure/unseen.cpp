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

double square(double x) {
  return x * x;
}

}  // namespace

void UnseenTime::tick_came(std::uint64_t number, Watts mean, Watts doubt, Seconds length, Watts sample,
                           Seconds window) {
  Sum sum = sums_.empty() ? Sum{} : sums_.back();
  sum.tick = number;
  length_ = length;
  if (last_sample_) {
    const Watts change{std::abs((sample - *last_sample_).value())};
    if (change > sample * noticeable) {
      const Watts apart{std::abs((mean - sample).value())};
      matches_ = apart <= doubt * 3.0 + sample * same_power ? std::min(matches_ + 1, enough_matches) : 0;
    }
    // The change came anywhere in the time unseen; one up and one down, each at its own place, leave 1/sqrt(6).
    const Joules at_most = change * (length - window);
    sum.variance += square(at_most.value()) / 3.0;
    sum.alike += at_most * (0.5 / std::sqrt(6.0));
    changes_ = std::min(changes_ + 1, memory);
    squared_change_ += (square(change.value()) - squared_change_) / changes_;
  }
  last_sample_ = sample;
  sums_.push_back(sum);
  if (sums_.size() > CounterTrack::depth) {
    sums_.pop_front();
  }
}

bool UnseenTime::suspected() const {
  return matches_ >= enough_matches;
}

Unseen UnseenTime::up_to(std::uint64_t tick) const {
  const auto next = std::ranges::upper_bound(sums_, tick, {}, &Sum::tick);
  if (next == sums_.begin()) {
    return {};
  }
  const Sum& sum = *std::prev(next);
  return {.suspected = suspected(),
          .variance = sum.variance,
          .alike = sum.alike,
          .own_variance = squared_change_ * square(length_.value()) / 3.0};
}

}  // namespace zeus::measure
