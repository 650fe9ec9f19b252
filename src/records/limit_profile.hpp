// Inside Zeus, what the public header says of an epoch under a limit. A plain value; copy it freely between threads.
#pragma once

#include <zeus/power.hpp>

#include <cmath>
#include <optional>

namespace zeus::records {

using zeus::LimitProfile;

// As it is where epochs take so many times as long and as much power; it compares with others as before.
inline LimitProfile scaled(LimitProfile profile, double time, double power) {
  profile.epoch_time *= time;
  profile.average_power *= power;
  if (profile.epoch_time_uncertainty) {
    *profile.epoch_time_uncertainty *= time;
  }
  if (profile.average_power_uncertainty) {
    *profile.average_power_uncertainty *= power;
  }
  return profile;
}

// Half-width of an epoch's energy, as a part of it; that of its time is no more. Nothing where it is not known.
inline std::optional<double> uncertainty(const LimitProfile& profile) {
  if (!profile.epoch_time_uncertainty || !profile.average_power_uncertainty) {
    return std::nullopt;
  }
  return std::hypot(*profile.epoch_time_uncertainty / profile.epoch_time,
                    *profile.average_power_uncertainty / profile.average_power);
}

}  // namespace zeus::records
