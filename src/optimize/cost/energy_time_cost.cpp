#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace zeus::optimize {

namespace {

// Costs whose relative difference is at most this are equal: the difference is rounding.
constexpr double rounding = 1e-9;
// Measured costs whose relative difference is at most this are equal, however small their uncertainties.
constexpr double least_difference = 1e-3;

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

std::optional<Joules> EnergyTimeCost::doubt_of_epoch(const records::LimitProfile& profile) const {
  if (!profile.epoch_time_uncertainty || !profile.average_power_uncertainty) {
    return std::nullopt;
  }
  const Joules energy = *profile.average_power_uncertainty * profile.epoch_time;
  return Joules{std::hypot(of(energy, Seconds{}).value(), of(Joules{}, *profile.epoch_time_uncertainty).value())};
}

std::size_t cheapest_limit(const EnergyTimeCost& cost, std::span<const records::LimitProfile> profiles) {
  const auto of_epoch = [&cost](const records::LimitProfile& profile) { return cost.of_epoch(profile); };
  const records::LimitProfile& cheapest = *std::ranges::min_element(profiles, {}, of_epoch);
  const Joules least = of_epoch(cheapest);
  const std::optional<Joules> doubt = cost.doubt_of_epoch(cheapest);
  const auto as_cheap = [&](const records::LimitProfile& profile) {
    const std::optional<Joules> own = cost.doubt_of_epoch(profile);
    const Joules apart = doubt && own
                             ? std::max(Joules{std::hypot(doubt->value(), own->value())}, least * least_difference)
                             : least * rounding;
    return of_epoch(profile) <= least + apart;
  };
  std::optional<std::size_t> chosen;
  for (std::size_t index = 0; index < profiles.size(); ++index) {
    const bool higher = !chosen || profiles[index].limit > profiles[*chosen].limit;
    if (higher && as_cheap(profiles[index])) {
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
