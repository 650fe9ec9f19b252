// A script's training (scripted_training.hpp) as a process in real time: what `run_truth --train` is. It trains on the
// first virtual GPU of the session it was started in, prints to its standard streams, and leaves when it is told to.
#pragma once

#include "tests/run/scripted_training.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace zeus::truth {

// Appends what it took to the file. Its exit code. `batch_size` is empty where there is nothing to choose.
int train_in_real_time(const Script& script, const std::filesystem::path& took, std::string_view batch_size);

// What the runs that have such a file took, the latest last.
std::vector<Took> read_took(const std::filesystem::path& took);

}  // namespace zeus::truth
