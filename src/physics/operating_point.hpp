// The point where a GPU settles under a demand, its controls and its temperature: clock, voltage, power, speed, and
// what holds it back. A pure function; callable from any thread.
#pragma once

#include "physics/controls.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <cstdint>

namespace zeus::physics {

enum class Throttle : std::uint32_t {
  none = 0,
  idle = 1,          // nothing runs, so the clocks are down
  power_cap = 2,     // the enforced limit
  thermal = 4,       // the slowdown temperature
  locked_clock = 8,  // the clock is held by a lock
};

struct OperatingPoint {
  Megahertz sm_clock;
  Megahertz memory_clock;
  double voltage = 0.0;             // relative to that of the highest clock
  Watts power;                      // mean, including the waits between kernels
  double speed = 0.0;               // work done per time, 1 at the highest clock without a limit; 0 when idle
  double gpu_utilization = 0.0;     // share of time in which kernels run
  double memory_utilization = 0.0;  // share of time in which memory is busy
  std::uint32_t throttle = 0;       // bits of Throttle

  [[nodiscard]] bool held_by(Throttle reason) const { return (throttle & static_cast<std::uint32_t>(reason)) != 0; }
};

OperatingPoint settle(const GpuModel& model, const Controls& controls, const Demand& demand, Celsius temperature);

// The lowest power that a limit can enforce on a busy GPU: that at the lowest clock. A lower limit is accepted, not
// kept.
Watts least_enforceable(const GpuModel& model, const Demand& demand, Celsius temperature);

}  // namespace zeus::physics
