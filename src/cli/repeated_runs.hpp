// The mean of several runs of one command. Pure function.
#pragma once

#include <zeus/measure.hpp>

#include <span>

namespace zeus::cli {

struct RepeatedRuns {
  // Each energy is the mean over the runs, and unknown if one run's is. Its uncertainty is the half-width of the mean's
  // 95 % interval, from the scatter of the runs, and at least what measuring leaves.
  Measurement mean;
  MeasuredEnergy total_gpu_energy;  // from the totals of the runs, as GPUs vary together
  Seconds time_uncertainty;
  std::size_t count = 0;
};

// For two runs or more of the same devices.
RepeatedRuns repeated(std::span<const Measurement> runs);

}  // namespace zeus::cli
