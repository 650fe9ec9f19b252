// A value with the time it was true. Plain values; copy them freely between threads.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

namespace zeus::device {

template <typename T>
struct Stamped {
  T value{};
  // When the driver took the value, as the driver says it; the middle of the call where it does not say. It is not when
  // the sensor was last updated, which only watching the value change can tell.
  Instant at;
  // How long the driver needed: the value was taken somewhere in `at` plus or minus half of it.
  Seconds latency;

  friend bool operator==(const Stamped&, const Stamped&) = default;
};

}  // namespace zeus::device
