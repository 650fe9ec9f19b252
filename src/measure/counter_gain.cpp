#include "measure/counter_gain.hpp"

namespace zeus::measure {

namespace {

constexpr Watts impossible_power{20'000};
constexpr Seconds slack{1.0};  // a counter may show the energy of this long a time at once

}  // namespace

std::optional<Joules> counter_gain(const device::EnergyCounter& counter, Joules before, Joules after, Seconds elapsed) {
  Joules gained = after - before;
  if (gained < Joules{0} && counter.wraps_at) {
    gained += *counter.wraps_at;
  }
  const bool possible = gained >= Joules{0} && gained <= impossible_power * (elapsed + slack);
  return possible ? std::optional{gained} : std::nullopt;
}

}  // namespace zeus::measure
