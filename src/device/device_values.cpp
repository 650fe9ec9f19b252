#include <zeus/device_values.hpp>

#include <array>
#include <ostream>

namespace zeus {

namespace {

struct Name {
  ThrottleReason reason;
  std::string_view text;
};

constexpr std::array reason_names{
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

std::string_view to_string(GpuVendor vendor) {
  return vendor == GpuVendor::nvidia ? "NVIDIA" : "AMD";
}

std::string_view to_string(PowerScope scope) {
  return field::name_of(scope);
}

std::string_view to_string(PowerKind kind) {
  return field::name_of(kind);
}

std::string_view to_string(ClockDomain domain) {
  return field::name_of(domain);
}

std::string_view to_string(ThrottleReason reason) {
  for (const Name& name : reason_names) {
    if (name.reason == reason) {
      return name.text;
    }
  }
  return "unknown";
}

std::string to_string(ThrottleReasons reasons) {
  std::string text;
  for (const Name& name : reason_names) {
    if (reasons.has(name.reason)) {
      text += text.empty() ? "" : ", ";
      text += name.text;
    }
  }
  return text.empty() ? "none" : text;
}

std::ostream& operator<<(std::ostream& stream, ThrottleReasons reasons) {
  return stream << to_string(reasons);
}

}  // namespace zeus
