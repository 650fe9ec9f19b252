// A script's training (scripted_training.hpp) as a process in real time, for `run_truth --train`. It trains on the
// first virtual GPU of its session, prints to its standard streams, and ends when asked to.
#pragma once

#include "tests/run/scripted_training.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace zeus::truth {

// Appends its costs to the file, and returns its exit code. `batch_size` is empty if there is nothing to choose.
int train_in_real_time(const Script& script, const std::filesystem::path& took, std::string_view batch_size);

// The costs of the runs with this file, the latest last.
std::vector<Took> read_took(const std::filesystem::path& took);

}  // namespace zeus::truth
