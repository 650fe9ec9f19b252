// What one training step takes under one power setting, as it was measured, with the doubt that is left.
// A plain value; copy it freely between threads.
#pragma once

#include "records/energy.hpp"
#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::records {

struct PowerMeasurement {
  PowerSetting setting;
  std::uint64_t steps = 0;        // the measured steps behind it
  Seconds step_time;              // mean of a step
  Seconds step_time_uncertainty;  // half-width of its 95 % interval
  Energy step_energy;             // mean of a step, summed over the GPUs that share the step
  std::optional<double> capped;   // the share of time in which the power limit held the clock down, where that is known

  friend bool operator==(const PowerMeasurement&, const PowerMeasurement&) = default;
};

}  // namespace zeus::records
