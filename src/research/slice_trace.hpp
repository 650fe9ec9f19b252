// Trainings on slices of data that drifts: for each slice and batch size, the epochs that recorded runs took to the
// target. CSV with the columns slice (from 1), batch_size, run and target_epoch, which is empty for a run that never
// got there. Plain values.
#pragma once

#include "simulate/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::research {

struct SliceArm {
  int batch_size = 0;
  std::vector<std::optional<int>> runs;  // ascending; those that never got there come last
};

struct SliceTrace {
  std::string name;
  std::vector<std::vector<SliceArm>> slices;  // the same batch sizes in each, ascending
};

// Errors name file and line. A slice that is missing, or lacks a batch size, is a corrupt_data Error too.
SliceTrace parse_slice_trace(std::string name, std::string_view text);

// A recurring job for each slice: the epochs of its runs, with the times and powers of an epoch of `power`. A batch
// size that `power` lacks is an invalid_argument Error. The default batch size is that of `power`, or the largest if
// the trace lacks it.
std::vector<simulate::Workload> slice_workloads(const SliceTrace& trace, const simulate::Workload& power);

}  // namespace zeus::research
