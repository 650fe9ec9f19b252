// What a GPU can be told in order to save energy, and what a training step was measured to take under it.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus {

// A power limit, and perhaps a locked clock under it.
struct PowerSetting {
  Watts limit;                     // of each GPU
  std::optional<Megahertz> clock;  // the highest one the GPU may use; nothing when clocks are left to the driver

  friend bool operator==(const PowerSetting&, const PowerSetting&) = default;
};

// What one training step takes under one power setting, as it was measured, with the doubt that is left.
struct PowerMeasurement {
  PowerSetting setting;
  std::uint64_t steps = 0;        // the measured steps behind it
  Seconds step_time;              // mean of a step
  Seconds step_time_uncertainty;  // half-width of its 95 % interval
  Energy step_energy;             // mean of a step, summed over the GPUs that share the step
  std::optional<double> capped;   // the share of time in which the power limit held the clock down, where that is known

  friend bool operator==(const PowerMeasurement&, const PowerMeasurement&) = default;
};

// What is known of a job's steps under the power settings of one kind of GPU: what the just-in-time profiler saves, so
// that the next recurrence, another process or another node need not measure again.
struct PowerProfile {
  // What the measurements hold for; profiles of something else are not comparable.
  std::string gpu;                          // product name
  std::uint32_t gpus = 1;                   // how many of them share a step
  std::optional<std::uint64_t> batch_size;  // nothing where the job has no such notion
  // Whether the profiler was done; otherwise it was interrupted, and what is here can be continued from.
  bool complete = false;
  // In the order in which they are offered to a selector: limits, then clocks, each from the highest down.
  std::vector<PowerMeasurement> measurements;

  friend bool operator==(const PowerProfile&, const PowerProfile&) = default;
};

// What one epoch (or one step) takes under one power limit, as selectors are asked about it.
struct LimitProfile {
  Watts limit;
  Seconds epoch_time;
  Watts average_power;  // summed over the GPUs that share it

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.limit, self.epoch_time, self.average_power);
  }
  friend bool operator==(const LimitProfile&, const LimitProfile&) = default;
};

}  // namespace zeus
