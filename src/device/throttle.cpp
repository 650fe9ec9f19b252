#include "device/throttle.hpp"

#include <array>

namespace zeus::device {

namespace {

struct Name {
  ThrottleReason reason;
  std::string_view text;
};

constexpr std::array names{
    Name{ThrottleReason::idle, "idle"},
    Name{ThrottleReason::application_clocks, "application clocks"},
    Name{ThrottleReason::power_cap, "power cap"},
    Name{ThrottleReason::hardware_slowdown, "hardware slowdown"},
    Name{ThrottleReason::sync_boost, "sync boost"},
    Name{ThrottleReason::software_thermal, "software thermal"},
    Name{ThrottleReason::hardware_thermal, "hardware thermal"},
    Name{ThrottleReason::power_brake, "power brake"},
    Name{ThrottleReason::display_clock, "display clock"},
};

}  // namespace

std::string_view to_string(ThrottleReason reason) {
  for (const Name& name : names) {
    if (name.reason == reason) {
      return name.text;
    }
  }
  return "unknown";
}

std::string to_text(ThrottleReasons reasons) {
  std::string text;
  for (const Name& name : names) {
    if (reasons.has(name.reason)) {
      text += text.empty() ? "" : ", ";
      text += name.text;
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace zeus::device
