// The energy-time cost of the NSDI'23 paper: eta x energy + (1 - eta) x MAXPOWER x time, in joules (equations 1 to 3),
// the cost of an epoch (equations 5 and 7) and regret (equation 9). An immutable value; safe from any thread.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace zeus::optimize {

class EnergyTimeCost {
 public:
  // `eta` in [0, 1]: 0 counts time alone, 1 energy alone. `max_power` is finite and above 0. Anything else is an
  // invalid_argument Error.
  EnergyTimeCost(double eta, Watts max_power);

  [[nodiscard]] double eta() const { return eta_; }
  [[nodiscard]] Watts max_power() const { return max_power_; }

  [[nodiscard]] Joules of(Joules energy, Seconds time) const { return eta_ * energy + time_price_ * time; }
  [[nodiscard]] Joules of_epoch(const records::LimitProfile& profile) const {
    return of(profile.average_power * profile.epoch_time, profile.epoch_time);
  }
  // Half-width of its 95 % interval, where that is known.
  [[nodiscard]] std::optional<Joules> doubt_of_epoch(const records::LimitProfile& profile) const;

 private:
  double eta_;
  Watts max_power_;
  Watts time_price_;
};

// What a choice costs beyond the best one, on average; never below zero for a true optimum.
constexpr Joules regret(Joules cost, Joules optimum) {
  return cost - optimum;
}

// The index of the profile whose epoch is cheapest; of those that cannot be told apart from it the one of the highest
// limit, and of that the first. They can be where they differ by more than their uncertainties and a thousandth, or,
// where one of those is not known, by more than rounding. `profiles` is not empty.
std::size_t cheapest_limit(const EnergyTimeCost& cost, std::span<const records::LimitProfile> profiles);

// The mean time and energy of an epoch spent in equal shares under each of the profiles: what the first epoch of a try
// takes while its limits are profiled. `profiles` is not empty; the result's limit is their largest.
records::LimitProfile mean_epoch(std::span<const records::LimitProfile> profiles);

}  // namespace zeus::optimize
