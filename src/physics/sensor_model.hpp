// What a GPU's own sensors show of the truth: how often each value moves, what it averages over, and how far it is off.
// Plain values, trivially copyable; safe to share between threads and to place in shared memory.
#pragma once

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::physics {

// A power value that is refreshed every `period` with the mean over the last `window` before the refresh. A window
// shorter than the period is what makes a part-time reading: the rest of the period is never seen.
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
  // The counter is known to be full-time on no card and part-time on none (an experiment decides): full-time by
  // default. When set, each period adds what was drawn in its last `counter_window`, scaled up to the whole period.
  bool counter_part_time = false;
  Seconds counter_window;

  PowerSensor average;
  PowerSensor instant;
  // Which of the two the plain power reading of the driver returns.
  PowerReadingKind plain = PowerReadingKind::instant;

  // The driver's ring of power samples: `sample_depth` of them, one every `sample_period`, each an instant reading.
  Seconds sample_period;
  std::uint32_t sample_depth = 0;

  // Updates happen at `phase` after every multiple of their period: no two cards tick together.
  Seconds phase;
  // What every power and energy reading is multiplied by, and what is added to every power reading.
  double gain = 1.0;
  Watts offset;

  friend bool operator==(const SensorModel&, const SensorModel&) = default;
};

}  // namespace zeus::physics
