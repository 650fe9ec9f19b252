// Brings the public type of an epoch under a limit into this namespace. A plain value; copy it freely between threads.
#pragma once

#include <zeus/power.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace zeus::records {

using zeus::LimitProfile;

// Scaled to epochs that take `time` times as long and `power` times as much power; comparisons with others stay the
// same.
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

// Adds later measurements to known ones, which are ascending by limit; a limit that is known is replaced.
inline void merge(std::vector<LimitProfile>& known, std::span<const LimitProfile> later) {
  for (const LimitProfile& one : later) {
    const auto place = std::ranges::lower_bound(known, one.limit, {}, &LimitProfile::limit);
    if (place != known.end() && place->limit == one.limit) {
      *place = one;
    } else {
      known.insert(place, one);
    }
  }
}

// The relative half-width of an epoch's energy. That of its time is not larger. Nothing if unknown.
inline std::optional<double> uncertainty(const LimitProfile& profile) {
  if (!profile.epoch_time_uncertainty || !profile.average_power_uncertainty) {
    return std::nullopt;
  }
  return std::hypot(*profile.epoch_time_uncertainty / profile.epoch_time,
                    *profile.average_power_uncertainty / profile.average_power);
}

}  // namespace zeus::records
