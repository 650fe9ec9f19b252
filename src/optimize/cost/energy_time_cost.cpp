#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

EnergyTimeCost::EnergyTimeCost(double eta, Watts max_power)
    : eta_{eta}, max_power_{max_power}, time_price_{(1.0 - eta) * max_power} {
  if (!(eta >= 0.0 && eta <= 1.0)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("eta is {}", eta),
                "give a number from 0 (only time counts) to 1 (only energy counts)"};
  }
  if (!std::isfinite(max_power.value()) || max_power.value() <= 0.0) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the maximum power is {} W", max_power.value()),
                "give the largest power limit of the GPUs, above 0"};
  }
}

std::size_t cheapest_limit(const EnergyTimeCost& cost, std::span<const records::LimitProfile> profiles) {
  const auto cheapest = std::ranges::min_element(
      profiles, {}, [&cost](const records::LimitProfile& profile) { return cost.of_epoch(profile).value(); });
  return static_cast<std::size_t>(cheapest - profiles.begin());
}

records::LimitProfile mean_epoch(std::span<const records::LimitProfile> profiles) {
  Seconds time;
  Joules energy;
  Watts largest;
  for (const records::LimitProfile& profile : profiles) {
    time += profile.epoch_time;
    energy += profile.average_power * profile.epoch_time;
    largest = std::max(largest, profile.limit);
  }
  const auto count = static_cast<double>(profiles.size());
  return {.limit = largest, .epoch_time = time / count, .average_power = energy / time};
}

}  // namespace zeus::optimize
