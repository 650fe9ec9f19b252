// What several runs of one command took on average. Pure function.
#pragma once

#include <zeus/measure.hpp>

#include <span>

namespace zeus::cli {

struct RepeatedRuns {
  // Each energy is the mean over the runs; its uncertainty is that of the mean, 95 %: by how much the runs differ, and
  // no less than what measuring leaves. Unknown where it is in one of them.
  Measurement mean;
  MeasuredEnergy total_gpu_energy;  // by the totals of the runs, whose GPUs vary together
  Seconds time_uncertainty;
  std::size_t count = 0;
};

// Of two runs or more, of the same devices.
RepeatedRuns repeated(std::span<const Measurement> runs);

}  // namespace zeus::cli
