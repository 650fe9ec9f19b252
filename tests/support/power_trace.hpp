// The published power traces (summary_power_GPU.csv), split for fitting and judging, where they lie beside the
// checkout.
#pragma once

#include "physics/training_profile.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zeus::test {

// One workload with one batch size: every other power limit, beginning with the lowest, and the rest.
struct TraceGroup {
  std::string workload;  // "dataset/network/optimizer"
  int batch_size = 0;
  std::vector<physics::EpochObservation> fitted;
  std::vector<physics::EpochObservation> held_out;
};

// The folder of the published traces; nothing on a machine that does not have them.
std::optional<std::filesystem::path> published_traces();

// In ascending order of workload and batch size. An unreadable file is an Error.
std::vector<TraceGroup> read_power_trace(const std::filesystem::path& file);

// Whether the row of a limit breaks physics, whatever the model. What an epoch takes beyond the power of mere waiting
// is the work of its kernels, and the same kernels never take less at a higher clock, where the voltage is no lower. A
// row that took over 12 % more of it than the group took under some higher limit contradicts that: something else ran,
// or the limit had not settled. Groups that stay within 25 W of waiting say nothing here.
bool breaks_physics(const TraceGroup& group, const physics::EpochObservation& row, Watts waiting);

}  // namespace zeus::test
