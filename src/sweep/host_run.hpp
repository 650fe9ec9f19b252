// One run on its host: gets GPUs of its own by lease, sets what the order asks for, runs the command, measures it and
// puts everything back. The main thread of a program, once.
#pragma once

#include "run/training_gpus.hpp"

#include <filesystem>
#include <string_view>

namespace zeus::sweep {

// Reads the order on descriptor `input` and writes to descriptor 1. The command ends, with all that it has started,
// when the order's stream ends. `version` is this program's. Returns 0 once the result is written, whatever it is;
// errors before the order is read are thrown.
int run_order(const run::Place& place, std::string_view version, int input);

// The same as a task of an array of Slurm: the order is in `folder`, under the number of the task that the environment
// names, and the result is written beside it, by rename.
int run_task(const run::Place& place, std::string_view version, const std::filesystem::path& folder);

// The files of task `number`, in the array's folder.
std::filesystem::path order_file(const std::filesystem::path& folder, std::uint64_t number);
std::filesystem::path end_file(const std::filesystem::path& folder, std::uint64_t number);

}  // namespace zeus::sweep
