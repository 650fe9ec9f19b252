// One GPU model as numbers: its power and speed at each clock, its temperature, and what its sensors show. The same for
// every workload. Plain values, trivially copyable; safe to share between threads and to place in shared memory.
// presets.cpp has the presets and the source of each number, docs/physics.md the formulas.
#pragma once

#include "physics/sensor_model.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace zeus::physics {

enum class Architecture : std::uint8_t { pascal, volta, turing, ampere, ga100, hopper };

// How the clock, the voltage and the power of a busy GPU depend on each other, and how its host keeps up. Clocks,
// voltages and times are relative to those at the highest clock.
struct PowerCurve {
  Watts idle;                  // nothing runs, and no context is open: lowest clocks
  Watts waiting;               // a context is open and the clocks are up, but no kernel runs
  Watts dynamic;               // power that kernels of activity 1 add to `waiting` at the highest clock
  double voltage_floor = 1.0;  // the lowest voltage
  double voltage_knee = 0.5;   // the clock up to which the lowest voltage is enough
  double voltage_bend = 1.0;   // the exponent of the rise beyond the knee: above 1 it is steepest at the top
  double memory_part = 0.0;    // part of `dynamic` that follows the work done, not clock and voltage
  double memory_time = 0.0;    // share of an ordinary kernel's time that does not depend on the clock
  double lowest_capped = 0.1;  // the clock below which no power limit pushes it
  double overlap = 1.0;        // how kernels and the host's waits combine (see step_time)
  double leakage = 0.0;        // relative growth of `waiting` per kelvin above `reference`
  Celsius reference;

  friend bool operator==(const PowerCurve&, const PowerCurve&) = default;
};

struct ThermalModel {
  Celsius ambient;
  double kelvins_per_watt = 0.0;
  Seconds time_constant;
  Celsius slowdown;  // the driver limits power so that the chip gets no hotter than this

  friend bool operator==(const ThermalModel&, const ThermalModel&) = default;
};

struct PowerLimits {
  Watts min;
  Watts default_limit;
  Watts max;

  friend bool operator==(const PowerLimits&, const PowerLimits&) = default;
};

struct ClockRange {
  Megahertz min;
  Megahertz max;
  Megahertz step;
  Megahertz idle;
  Megahertz memory;
  Megahertz memory_idle;

  friend bool operator==(const ClockRange&, const ClockRange&) = default;
};

struct GpuModel {
  // Short name as in "4xA100", and the driver's name; both end with a zero byte.
  std::array<char, 16> short_name{};
  std::array<char, 48> product_name{};
  Architecture architecture = Architecture::volta;
  std::uint64_t memory_bytes = 0;
  PowerLimits limits;
  ClockRange clocks;
  PowerCurve power;
  ThermalModel thermal;
  SensorModel sensors;

  [[nodiscard]] std::string_view name() const { return short_name.data(); }
  [[nodiscard]] std::string_view product() const { return product_name.data(); }

  friend bool operator==(const GpuModel&, const GpuModel&) = default;
};

// P100, V100, RTX6000, A40, A100, H100, H200.
std::span<const GpuModel> presets();
// By short name, in any case; an unknown name is a not_found Error that lists them.
const GpuModel& preset(std::string_view name);

}  // namespace zeus::physics
