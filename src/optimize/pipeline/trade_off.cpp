#include "optimize/pipeline/trade_off.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace zeus::optimize::pipeline {

namespace {

void check_measurements(const records::ComputationProfile& profile) {
  if (profile.options.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the profile '{}' has no measurement", profile.name),
                "give it at least one frequency with its time and energy"};
  }
  for (const records::FrequencyOption& option : profile.options) {
    const bool sound = std::isfinite(option.frequency.value()) && std::isfinite(option.time.value()) &&
                       std::isfinite(option.energy.value()) && option.time >= Seconds{0} &&
                       option.energy >= Joules{0} && option.frequency >= Megahertz{0};
    if (!sound) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the profile '{}' has {} MHz, {} s, {} J", profile.name, option.frequency.value(),
                              option.time.value(), option.energy.value()),
                  "give frequencies, times and energies that are finite and not negative"};
    }
  }
}

// Whether `middle` lies on or above the line from `first` to `last`.
bool is_above(const Knot& first, const Knot& middle, const Knot& last) {
  return (middle.cost - first.cost).value() * (last.time - first.time).value() >=
         (last.cost - first.cost).value() * (middle.time - first.time).value();
}

}  // namespace

Joules cost_of(const records::FrequencyOption& option, Watts blocking_power) {
  return option.energy - blocking_power * option.time;
}

std::vector<records::FrequencyOption> efficient_options(const records::ComputationProfile& profile,
                                                        Watts blocking_power) {
  check_measurements(profile);
  std::vector<records::FrequencyOption> sorted = profile.options;
  std::ranges::sort(sorted, [&](const records::FrequencyOption& a, const records::FrequencyOption& b) {
    return std::tuple{a.time, cost_of(a, blocking_power), b.frequency} <
           std::tuple{b.time, cost_of(b, blocking_power), a.frequency};
  });
  std::vector<records::FrequencyOption> efficient;
  for (const records::FrequencyOption& option : sorted) {
    if (efficient.empty() || cost_of(option, blocking_power) < cost_of(efficient.back(), blocking_power)) {
      efficient.push_back(option);
    }
  }
  return efficient;
}

TradeOff trade_off_of(std::span<const records::FrequencyOption> efficient, Watts blocking_power) {
  TradeOff hull;
  for (const records::FrequencyOption& option : efficient) {
    const Knot knot{option.time, cost_of(option, blocking_power)};
    while (hull.size() >= 2 && is_above(hull[hull.size() - 2], hull.back(), knot)) {
      hull.pop_back();
    }
    hull.push_back(knot);
  }
  return hull;
}

Joules cost_at(const TradeOff& trade_off, Seconds time) {
  const auto after = std::ranges::upper_bound(trade_off, time, {}, &Knot::time);
  if (after == trade_off.end()) {
    return trade_off.back().cost;
  }
  if (after == trade_off.begin()) {
    return trade_off.front().cost;
  }
  const Knot& before = *std::prev(after);
  return before.cost + (after->cost - before.cost) * ((time - before.time) / (after->time - before.time));
}

}  // namespace zeus::optimize::pipeline
