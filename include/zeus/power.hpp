// What a GPU can be told in order to save energy, and what a training step was measured to take under it.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/export.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

// A power limit, and perhaps a locked clock under it.
struct PowerSetting {
  Watts limit = {};                     // of each GPU
  std::optional<Megahertz> clock = {};  // the highest one the GPU may use; nothing when clocks are left to the driver

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::above_zero);
    fields("clock", self.clock, field::above_zero);
  }
  friend bool operator==(const PowerSetting&, const PowerSetting&) = default;
};

// "200 W", "200 W at 1200 MHz"
ZEUS_API std::ostream& operator<<(std::ostream& stream, const PowerSetting& setting);

// What one training step takes under one power setting, as it was measured, with the doubt that is left.
struct PowerMeasurement {
  PowerSetting setting = {};
  std::uint64_t steps = 0;             // the measured steps behind it
  Seconds step_time = {};              // mean of a step
  Seconds step_time_uncertainty = {};  // half-width of its 95 % interval
  Energy step_energy = {};             // mean of a step, summed over the GPUs that share the step
  std::optional<double> capped =
      {};  // the share of time in which the power limit held the clock down, where that is known

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting, field::beside);
    fields("steps", self.steps, field::from_one);
    fields("step_time", self.step_time, field::above_zero);
    fields("step_time_uncertainty", self.step_time_uncertainty, field::from_zero);
    fields("step_energy", self.step_energy);
    fields("capped", self.capped, field::share);
  }
  friend bool operator==(const PowerMeasurement&, const PowerMeasurement&) = default;
};

// What is known of a job's steps under the power settings of one kind of GPU: what the just-in-time profiler saves, so
// that the next recurrence, another process or another node need not measure again.
struct PowerProfile {
  // What the measurements hold for; profiles of something else are not comparable.
  std::string gpu = {};                          // product name
  std::uint32_t gpus = 1;                        // how many of them share a step
  std::optional<std::uint64_t> batch_size = {};  // nothing where the job has no such notion
  // Whether the profiler was done; otherwise it was interrupted, and what is here can be continued from.
  bool complete = false;
  // In the order in which they are offered to a selector: limits, then clocks, each from the highest down.
  std::vector<PowerMeasurement> measurements = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1);
    fields("gpu", self.gpu);
    fields("gpus", self.gpus, field::Rule{.least = 1, .most = 10'000});
    fields("batch_size", self.batch_size, field::from_one);
    fields("complete", self.complete);
    fields("measurements", self.measurements, field::Rule{.members = 10'000});
  }
  friend bool operator==(const PowerProfile&, const PowerProfile&) = default;
};

// What one epoch (or one step) takes under one power limit, as selectors are asked about it.
struct LimitProfile {
  Watts limit = {};
  Seconds epoch_time = {};
  Watts average_power = {};  // summed over the GPUs that share it
  // Half-widths of 95 % intervals, where they are known: how well it compares with what was measured beside it. That of
  // the power is that of the energy, over the time.
  std::optional<Seconds> epoch_time_uncertainty = {};
  std::optional<Watts> average_power_uncertainty = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule doubt{.least = 0.0, .left_out = true};
    fields("limit", self.limit, field::above_zero);
    fields("epoch_time", self.epoch_time, field::above_zero);
    fields("average_power", self.average_power, field::above_zero);
    fields("epoch_time_uncertainty", self.epoch_time_uncertainty, doubt);
    fields("average_power_uncertainty", self.average_power_uncertainty, doubt);
  }
  friend bool operator==(const LimitProfile&, const LimitProfile&) = default;
};

}  // namespace zeus
