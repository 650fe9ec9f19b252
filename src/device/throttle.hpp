// What keeps a GPU's clocks below what they could be: now, and for how long so far. Plain values.
#pragma once

#include "base/clock.hpp"
#include "device/reading.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace zeus::device {

enum class ThrottleReason : std::uint32_t {
  idle = 1U << 0,                // nothing to do
  application_clocks = 1U << 1,  // somebody asked for lower clocks, or locked them
  power_cap = 1U << 2,           // the power limit
  hardware_slowdown = 1U << 3,   // the hardware's own protection, of any cause
  sync_boost = 1U << 4,          // a slower GPU of the same group
  software_thermal = 1U << 5,    // the driver's temperature target
  hardware_thermal = 1U << 6,    // the hardware's temperature limit
  power_brake = 1U << 7,         // a signal from outside, such as the power supply's
  display_clock = 1U << 8,       // a display
};

// "power cap", for a person.
std::string_view to_string(ThrottleReason reason);

class ThrottleReasons {
 public:
  ThrottleReasons() = default;
  explicit ThrottleReasons(std::uint32_t bits) : bits_{bits} {}

  void add(ThrottleReason reason) { bits_ |= static_cast<std::uint32_t>(reason); }
  [[nodiscard]] bool has(ThrottleReason reason) const { return (bits_ & static_cast<std::uint32_t>(reason)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }

  friend bool operator==(const ThrottleReasons&, const ThrottleReasons&) = default;

 private:
  std::uint32_t bits_ = 0;
};

// "power cap, software thermal"; "none" when nothing holds the clocks back.
std::string to_text(ThrottleReasons reasons);

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
