// What the calls of all vendors' libraries share: their timestamps, and the failure of a call that the library lacks.
// Pure functions; any thread.
#pragma once

#include "base/clock.hpp"
#include "device/stamped.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace zeus::backends {

inline constexpr Failure call_missing{Reason::unsupported, "the driver's library is too old for this"};

// The result of read(), with the middle of the call as its time.
template <typename Read>
auto stamped(const Clock& clock, Read&& read) -> Reading<device::Stamped<typename std::invoke_result_t<Read>::Value>> {
  const Instant before = clock.now();
  const auto reading = read();
  const Seconds latency = clock.now() - before;
  if (!reading) {
    return reading.failure();
  }
  return device::Stamped<typename std::invoke_result_t<Read>::Value>{*reading, before + latency / 2, latency};
}

// Rounded, and held between zero and a number that no clock reaches.
unsigned whole_megahertz(Megahertz clock);

// Hexadecimal numbers in identities are compared as strings everywhere.
std::string lower_case(std::string_view text);

}  // namespace zeus::backends
