// Training of one workload with one batch size on one GPU model: three numbers that give its time and power under any
// limit and clock, and how to find them from a few measurements. Pure functions; any thread.
#pragma once

#include "physics/controls.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <zeus/units.hpp>

#include <span>

namespace zeus::physics {

struct TrainingProfile {
  Seconds epoch;          // at the highest clock without a limit
  double busy = 0.0;      // share of that time in which kernels run
  double activity = 0.0;  // the kernels' power, relative to the model's `dynamic` power

  friend bool operator==(const TrainingProfile&, const TrainingProfile&) = default;
};

// One row of a power trace: an epoch under a limit.
struct EpochObservation {
  Watts limit;
  Seconds time;
  Watts power;
};

// The GPU's demand while it trains this.
Demand demand_of(const GpuModel& model, const TrainingProfile& profile);

// The epoch's time and mean power under these controls, with the GPU at the temperature that its parameters are for.
EpochObservation predict(const GpuModel& model, const Controls& controls, const TrainingProfile& profile);
EpochObservation predict(const GpuModel& model, Watts limit, const TrainingProfile& profile);

// The profile closest to the observations: least absolute relative errors of time and power, softened below
// `tolerance`. An invalid_argument Error unless there are at least two observations under different limits.
TrainingProfile fit_profile(const GpuModel& model, std::span<const EpochObservation> observations,
                            double tolerance = 0.05);

}  // namespace zeus::physics
