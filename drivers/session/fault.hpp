// A fault that a virtual GPU can be given: one line of text is one fault. docs/virtual.md has the format for users.
// Plain values, trivially copyable, so that they may lie in shared memory; the functions are pure and thread-safe.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::drivers {

enum class FaultKind : std::uint32_t {
  permission,   // calls are refused as for a user without permission
  unsupported,  // calls are refused as by a GPU without the feature
  timeout,      // calls fail as by a GPU that does not answer
  lost,         // the GPU has fallen off the bus
  slow,         // calls take `delay` longer
  reset,        // the energy counter starts over at 0
  wrap,         // the energy counter starts over whenever it reaches `energy`
  constant,     // the energy counter stands still
  backward,     // the energy counter jumps back by `energy`
  lower,        // the enforced limit is `power` below the requested one
};

struct Fault {
  static constexpr std::uint32_t every_gpu = ~std::uint32_t{0};

  FaultKind kind = FaultKind::lost;
  std::uint32_t gpu = every_gpu;
  // Since the session began; without end if `lasts` is zero.
  Seconds from;
  Seconds lasts;
  Seconds delay;
  Joules energy;
  Watts power;
  // How many calls it hits; 0: all.
  std::uint64_t times = 0;
  // The entry points, with `*` for any characters; ends with a zero byte.
  std::array<char, 64> calls{};

  [[nodiscard]] bool concerns(std::uint32_t index) const { return gpu == every_gpu || gpu == index; }
  [[nodiscard]] bool active(Seconds since_start) const {
    return since_start >= from && (lasts == Seconds{0} || since_start < from + lasts);
  }
  [[nodiscard]] bool matches(std::string_view entry_point) const;
  // Faults of the counter distort what it shows; the others act on calls.
  [[nodiscard]] bool is_of_counter() const;
};

// True if an entry point changes a setting, in any vendor's spelling, including resets of clocks.
bool is_setter(std::string_view entry_point);

// One line, such as "slow delay=200ms gpu=0 from=5s for=10s call=nvmlDeviceGet*"; nothing for an empty line or a
// comment (#). A line that cannot be understood is an invalid_argument Error.
std::optional<Fault> parse_fault(std::string_view line);

// A whole file; an Error gives the line number. `gpu_count` limits the indices.
std::vector<Fault> parse_faults(std::string_view text, std::uint32_t gpu_count);

}  // namespace zeus::drivers
