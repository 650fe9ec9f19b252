// For how long a GPU's clocks were kept below what they could be. Plain values.
#pragma once

#include "base/clock.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

namespace zeus::device {

// How long each cause has held the clocks back since the driver was loaded: two readings say for what part of the time
// between them. Each may be missing by itself.
struct ThrottleTimes {
  Instant at;
  Reading<Seconds> power_cap;
  Reading<Seconds> sync_boost;
  Reading<Seconds> software_thermal;
  Reading<Seconds> hardware_thermal;
  Reading<Seconds> power_brake;
};

}  // namespace zeus::device
