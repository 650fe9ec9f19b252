// The published power traces (summary_power_GPU.csv), split for fitting and judging, if they are beside the checkout.
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

// The folder of the published traces; empty on a machine without them.
std::optional<std::filesystem::path> published_traces();

// In ascending order of workload and batch size. An unreadable file is an Error.
std::vector<TraceGroup> read_power_trace(const std::filesystem::path& file);

// Whether the row of a limit breaks physics, whatever the model. An epoch's energy beyond the power of waiting is the
// work of its kernels, and the same kernels never use less at a higher clock, where the voltage is not lower. A row
// that used over 12 % more than its group did under some higher limit contradicts this: something else ran, or the
// limit had not settled. Groups within 25 W of waiting are not checked.
bool breaks_physics(const TraceGroup& group, const physics::EpochObservation& row, Watts waiting);

}  // namespace zeus::test
