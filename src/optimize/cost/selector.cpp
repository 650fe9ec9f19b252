#include "optimize/cost/selector.hpp"

#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::optimize {

namespace {

using Profiles = std::span<const records::LimitProfile>;

Joules epoch_energy(const records::LimitProfile& profile) {
  return profile.average_power * profile.epoch_time;
}

template <typename Key>
std::size_t least(Profiles profiles, Key key) {
  return static_cast<std::size_t>(std::ranges::min_element(profiles, {}, key) - profiles.begin());
}

}  // namespace

Selector select_time() {
  return [](Profiles profiles) {
    return least(profiles, [](const records::LimitProfile& p) { return std::pair{p.epoch_time, epoch_energy(p)}; });
  };
}

Selector select_energy() {
  return [](Profiles profiles) {
    return least(profiles, [](const records::LimitProfile& p) { return std::pair{epoch_energy(p), p.epoch_time}; });
  };
}

Selector select_zeus_cost(double eta) {
  static_cast<void>(EnergyTimeCost{eta, Watts{1}});
  return [eta](Profiles profiles) {
    const Watts largest = std::ranges::max(profiles, {}, &records::LimitProfile::limit).limit;
    return cheapest_limit(EnergyTimeCost{eta, largest}, profiles);
  };
}

Selector select_max_slowdown(double factor) {
  if (!(factor >= 1.0)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the slowdown factor is {}", factor),
                "give a number of at least 1, such as 1.1 for 10 % slower"};
  }
  return [factor](Profiles profiles) {
    const Seconds fastest = std::ranges::min(profiles, {}, &records::LimitProfile::epoch_time).epoch_time;
    return least(profiles, [bound = factor * fastest](const records::LimitProfile& p) {
      return std::pair{p.epoch_time > bound, epoch_energy(p)};
    });
  };
}

std::size_t select(const Selector& selector, Profiles profiles) {
  if (profiles.empty()) {
    throw Error{ErrorKind::invalid_argument, "there is no profiled limit to choose from", "profile at least one"};
  }
  const std::size_t index = selector(profiles);
  if (index >= profiles.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the selector chose number {} of {} profiled limits", index, profiles.size()),
                "return the index of one of them"};
  }
  return index;
}

}  // namespace zeus::optimize
