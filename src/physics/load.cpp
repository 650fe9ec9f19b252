#include "physics/load.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

namespace zeus::physics {

Load Load::square(Demand low, Demand high, Seconds period, Instant origin) {
  const std::int64_t period_ns = (Instant{} + period).nanoseconds;
  if (period_ns < 2) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a square wave has a period of {} s", period.value()),
                "give a period of at least 2 ns"};
  }
  return {.shape = LoadShape::square,
          .first = low,
          .second = high,
          .origin = origin,
          .period_ns = period_ns,
          .first_lasts_ns = period_ns / 2};
}

}  // namespace zeus::physics
