// The moments of a test that needs no clock.
#pragma once

#include "base/clock.hpp"

namespace zeus::test {

constexpr Instant at_second(double seconds) {
  return Instant{} + Seconds{seconds};
}

}  // namespace zeus::test
