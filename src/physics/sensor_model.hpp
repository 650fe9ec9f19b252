// The sensors of a GPU: how often each value is updated, over which time it is averaged, and its error.
// Plain values, trivially copyable; safe to share between threads and to place in shared memory.
#pragma once

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::physics {

// A power value that is refreshed every `period` with the mean over the last `window` before the refresh. With a window
// shorter than the period, the reading is part-time: it never sees the rest of the period.
struct PowerSensor {
  bool present = false;
  Seconds period;
  Seconds window;

  friend bool operator==(const PowerSensor&, const PowerSensor&) = default;
};

enum class PowerReadingKind : std::uint8_t { average, instant };

struct SensorModel {
  // The cumulative energy counter.
  bool counter_present = false;
  Seconds counter_period;
  // No experiment has shown yet whether the counter of any model is full-time or part-time, so the default is
  // full-time. If set, each period adds the energy of its last `counter_window`, scaled up to the whole period.
  bool counter_part_time = false;
  Seconds counter_window;

  PowerSensor average;
  PowerSensor instant;
  // Which of the two the plain power reading of the driver returns.
  PowerReadingKind plain = PowerReadingKind::instant;

  // The driver's ring of power samples: `sample_depth` of them, one every `sample_period`, each an instant reading.
  Seconds sample_period;
  std::uint32_t sample_depth = 0;

  // Updates happen at `phase` after every multiple of their period; no two GPUs tick together.
  Seconds phase;
  // The factor of every power and energy reading, and an offset added to every power reading.
  double gain = 1.0;
  Watts offset;

  friend bool operator==(const SensorModel&, const SensorModel&) = default;
};

}  // namespace zeus::physics
