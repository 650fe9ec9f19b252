// The power settings of a GPU, and measurements of a training step under them. Plain values; copy them freely between
// threads.
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
  std::optional<Megahertz> clock = {};  // the highest that the GPU may use; nothing leaves clocks to the driver

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::power_above_zero);
    fields("clock", self.clock, field::above_zero);
  }
  friend bool operator==(const PowerSetting&, const PowerSetting&) = default;
};

// "200 W", "200 W at 1200 MHz"
ZEUS_API std::ostream& operator<<(std::ostream& stream, const PowerSetting& setting);

// The measured time and energy of one training step under one power setting, with their uncertainty.
struct PowerMeasurement {
  PowerSetting setting = {};
  std::uint64_t steps = 0;             // the measured steps behind it
  Seconds step_time = {};              // mean of a step
  Seconds step_time_uncertainty = {};  // half-width of its 95 % interval
  Energy step_energy = {};             // mean of a step, summed over the GPUs that share the step
  // The share of time in which the power limit held the clock down, if it is known.
  std::optional<double> capped = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting, field::beside);
    fields("steps", self.steps, field::from_one);
    fields("step_time", self.step_time, field::duration_above_zero);
    fields("step_time_uncertainty", self.step_time_uncertainty, field::duration);
    fields("step_energy", self.step_energy);
    fields("capped", self.capped, field::share);
  }
  friend bool operator==(const PowerMeasurement&, const PowerMeasurement&) = default;
};

// The known time and energy of a job's steps under the power settings of one GPU model. The just-in-time profiler saves
// it, so that the next recurrence, another process or another node need not measure again.
struct PowerProfile {
  // What the measurements are valid for; other profiles are not comparable.
  std::string gpu = {};                          // product name
  std::uint32_t gpus = 1;                        // how many of them share a step
  std::optional<std::uint64_t> batch_size = {};  // nothing if the job has no batch size
  // Whether the profiler finished; if it was interrupted, it can continue from here.
  bool complete = false;
  // In the order in which a selector gets them: limits, then clocks, each from the highest down.
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

// Time and power of one epoch (or one step) under one power limit, as a selector gets it.
struct LimitProfile {
  Watts limit = {};
  Seconds epoch_time = {};
  Watts average_power = {};  // summed over the GPUs that share it
  // Half-widths of 95 % intervals, if known, for comparing this limit with those measured beside it. The power's
  // half-width is that of the energy, divided by the time.
  std::optional<Seconds> epoch_time_uncertainty = {};
  std::optional<Watts> average_power_uncertainty = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::power_above_zero);
    fields("epoch_time", self.epoch_time, field::duration_above_zero);
    fields("average_power", self.average_power, field::power_above_zero);
    fields("epoch_time_uncertainty", self.epoch_time_uncertainty, field::may_lack(field::duration));
    fields("average_power_uncertainty", self.average_power_uncertainty, field::may_lack(field::power));
  }
  friend bool operator==(const LimitProfile&, const LimitProfile&) = default;
};

}  // namespace zeus
