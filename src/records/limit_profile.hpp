// What one epoch takes under one power limit, as a profiler measured it or a trace recorded it.
// A plain value; copy it freely between threads.
#pragma once

#include <zeus/units.hpp>

namespace zeus::records {

struct LimitProfile {
  Watts limit;
  Seconds epoch_time;
  Watts average_power;

  friend bool operator==(const LimitProfile&, const LimitProfile&) = default;
};

}  // namespace zeus::records
