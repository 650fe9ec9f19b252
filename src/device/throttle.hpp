// How long a GPU's clocks were held below what they could have been. Plain values.
#pragma once

#include "base/clock.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

namespace zeus::device {

// How long each cause has held the clocks back since the driver was loaded. Two readings give the fraction of the time
// between them. Any of them may be missing.
struct ThrottleTimes {
  Instant at;
  Reading<Seconds> power_cap;
  Reading<Seconds> sync_boost;
  Reading<Seconds> software_thermal;
  Reading<Seconds> hardware_thermal;
  Reading<Seconds> power_brake;
};

}  // namespace zeus::device
