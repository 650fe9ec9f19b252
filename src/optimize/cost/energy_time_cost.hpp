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
  // `eta` lies in [0, 1]: 0 counts only time, 1 only energy. `max_power` is finite and above 0. Anything else is an
  // invalid_argument Error.
  EnergyTimeCost(double eta, Watts max_power);

  [[nodiscard]] double eta() const { return eta_; }
  [[nodiscard]] Watts max_power() const { return max_power_; }

  [[nodiscard]] Joules of(Joules energy, Seconds time) const { return eta_ * energy + time_price_ * time; }
  [[nodiscard]] Joules of_epoch(const records::LimitProfile& profile) const {
    return of(profile.average_power * profile.epoch_time, profile.epoch_time);
  }
  // Half-width of its 95 % interval, if known.
  [[nodiscard]] std::optional<Joules> doubt_of_epoch(const records::LimitProfile& profile) const;

 private:
  double eta_;
  Watts max_power_;
  Watts time_price_;
};

// How much more a choice costs on average than the best one; never below zero for a true optimum.
constexpr Joules regret(Joules cost, Joules optimum) {
  return cost - optimum;
}

// The index of the profile whose epoch is cheapest. Of profiles that cost the same within their uncertainty, it is the
// one with the highest limit, and of those the first. Two costs differ if their distance exceeds the root of the sum of
// their squared uncertainties and a thousandth of the cost; if an uncertainty is unknown, if it exceeds rounding.
// `profiles` is not empty.
std::size_t cheapest_limit(const EnergyTimeCost& cost, std::span<const records::LimitProfile> profiles);

// The mean time and energy of an epoch spent in equal shares under each of the profiles: what the first epoch of a try
// takes while its limits are profiled. `profiles` is not empty; the limit of the result is the largest of theirs.
records::LimitProfile mean_epoch(std::span<const records::LimitProfile> profiles);

}  // namespace zeus::optimize
