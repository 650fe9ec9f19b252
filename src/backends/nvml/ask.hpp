// Turns a call of the library into a reading. Pure functions; only the one that returns a string allocates.
#pragma once

#include "backends/nvml/nvml_library.hpp"
#include "base/clock.hpp"
#include "device/outcome.hpp"
#include "device/stamped.hpp"

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace zeus::backends::nvml {

// The string that function(arguments..., buffer, length) writes; empty if it writes none.
template <typename Function, typename... Arguments>
std::string ask_text(Function* function, Arguments... arguments) {
  std::array<char, abi::text_length + 1> text{};
  const bool there = function != nullptr && function(arguments..., text.data(), abi::text_length) == abi::Code::success;
  return there ? text.data() : "";
}

// Both clocks at one moment: the library's timestamps are civil time, and readings are on the monotonic clock. If the
// thread is held up between the two, they are read again.
struct TwoClocks {
  explicit TwoClocks(const Clock& clock);

  [[nodiscard]] Instant instant(std::int64_t microseconds_since_epoch) const {
    return {now.nanoseconds - (wall.microseconds_since_epoch - microseconds_since_epoch) * 1000};
  }
  [[nodiscard]] std::int64_t microseconds_since_epoch(Instant instant) const {
    return wall.microseconds_since_epoch - (now.nanoseconds - instant.nanoseconds) / 1000;
  }

  Instant now;
  WallTime wall;
};

// One field of the library. Its own timestamp is used if it can be right (not after the call, and not long before it);
// otherwise the middle of the call.
Reading<device::Stamped<double>> ask_field(const NvmlLibrary& library, abi::Device* handle, std::uint32_t field,
                                           abi::PowerScope scope);

}  // namespace zeus::backends::nvml
