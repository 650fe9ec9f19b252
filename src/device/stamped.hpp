// A value and the time at which it was true. Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

namespace zeus::device {

template <typename T>
struct Stamped {
  T value{};
  // When the driver took the value, as the driver reports it; otherwise the middle of the call. It is not the time of
  // the sensor's last update, which shows only when the value changes.
  Instant at;
  // How long the driver's call took: the value was taken within `at` plus or minus half of it.
  Seconds latency;

  friend bool operator==(const Stamped&, const Stamped&) = default;
};

}  // namespace zeus::device
