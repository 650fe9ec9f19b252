// The vocabulary of devices: vendors, scopes and kinds of power, clocks, and what holds them back. Plain values; copy
// them freely between threads.
#pragma once

#include <zeus/export.hpp>
#include <zeus/fields.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace zeus {

enum class GpuVendor { nvidia, amd };

// "NVIDIA"
ZEUS_API std::string_view to_string(GpuVendor vendor);

// The part of the machine whose power it is.
enum class PowerScope {
  gpu,      // the GPU with its memory
  module,   // the whole module: a superchip's CPU, GPU and memory
  memory,   // memory alone: the GPU's, or that behind a CPU package
  package,  // a CPU package
};

// The time over which a power is averaged.
enum class PowerKind {
  instant,  // over the sensor's own short window
  average,  // over about a second
  plain,    // the driver's oldest reading: instant or averaged, by model and driver version
};

constexpr auto names_of(PowerScope /*scope*/) {
  return std::array<field::Name<PowerScope>, 4>{{{PowerScope::gpu, "gpu"},
                                                 {PowerScope::module, "module"},
                                                 {PowerScope::memory, "memory"},
                                                 {PowerScope::package, "package"}}};
}
constexpr auto names_of(PowerKind /*kind*/) {
  return std::array<field::Name<PowerKind>, 3>{
      {{PowerKind::instant, "instant"}, {PowerKind::average, "average"}, {PowerKind::plain, "plain"}}};
}

ZEUS_API std::string_view to_string(PowerScope scope);
ZEUS_API std::string_view to_string(PowerKind kind);

// Any of them may be missing.
struct PowerLimits {
  Reading<Watts> current = {};   // the limit that was last requested
  Reading<Watts> standard = {};  // the limit that the device starts with
  Reading<Watts> minimum = {};   // the range that may be requested
  Reading<Watts> maximum = {};
  Reading<Watts> enforced = {};  // the limit in force: lower than `current` if something else limits as well
};

struct PowerLimitRange {
  Watts minimum = {};
  Watts maximum = {};
};

enum class ClockDomain { graphics, sm, memory };

constexpr auto names_of(ClockDomain /*domain*/) {
  return std::array<field::Name<ClockDomain>, 3>{
      {{ClockDomain::graphics, "graphics"}, {ClockDomain::sm, "sm"}, {ClockDomain::memory, "memory"}}};
}

ZEUS_API std::string_view to_string(ClockDomain domain);

// The clocks of a domain are held between the two; they are equal if it is locked to one clock.
struct ClockRange {
  Megahertz minimum = {};
  Megahertz maximum = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("minimum", self.minimum, field::above_zero);
    fields("maximum", self.maximum, field::above_zero);
  }
  friend bool operator==(const ClockRange&, const ClockRange&) = default;
};

// What keeps a GPU's clocks below their maximum.
enum class ThrottleReason : std::uint32_t {
  idle = 1U << 0,                // nothing to do
  application_clocks = 1U << 1,  // lower clocks were requested, or locked
  power_cap = 1U << 2,           // the power limit
  hardware_slowdown = 1U << 3,   // the hardware's own protection, whatever the cause
  sync_boost = 1U << 4,          // a slower GPU of the same group
  software_thermal = 1U << 5,    // the driver's temperature target
  hardware_thermal = 1U << 6,    // the hardware's temperature limit
  power_brake = 1U << 7,         // a signal from outside, such as the power supply's
  display_clock = 1U << 8,       // a display
};

// "power cap"
ZEUS_API std::string_view to_string(ThrottleReason reason);

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

// "power cap, software thermal"; "none" if nothing holds the clocks back.
ZEUS_API std::string to_string(ThrottleReasons reasons);
ZEUS_API std::ostream& operator<<(std::ostream& stream, ThrottleReasons reasons);

// Something that does not work here: which device or part, what is wrong, and how to fix it. For messages; no string
// ends with a full stop.
struct DeviceProblem {
  std::string device = {};
  std::string what = {};
  std::string fix = {};

  friend bool operator==(const DeviceProblem&, const DeviceProblem&) = default;
};

}  // namespace zeus
