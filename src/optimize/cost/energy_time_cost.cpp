#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

namespace zeus::optimize {

namespace {

// Costs that differ by no more than this part are the same but for rounding.
constexpr double rounding = 1e-9;

}  // namespace

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
  const auto of_epoch = [&cost](const records::LimitProfile& profile) { return cost.of_epoch(profile); };
  const Joules least = std::ranges::min(profiles | std::views::transform(of_epoch));
  std::optional<std::size_t> chosen;
  for (std::size_t index = 0; index < profiles.size(); ++index) {
    const bool higher = !chosen || profiles[index].limit > profiles[*chosen].limit;
    if (higher && of_epoch(profiles[index]) <= least * (1.0 + rounding)) {
      chosen = index;
    }
  }
  return *chosen;
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
