// Computation graphs as text files, for pipelines that none of the built-in schedules describes. Pure functions.
//
//   # everything after a hash is ignored; one statement a line, fields separated by blanks
//   profile forward0 1410 0.0402 10.1       a measurement of a kind of computation: MHz, seconds, joules
//   profile load 0 0.002 0.1                0 MHz if no clock is to be set
//   computation F0.0 0 forward0 forward     name, device, profile, the training loop's name for it (default: the name)
//   dependency F0.0 F1.0 0.0005             F1.0 waits for F0.0, and for communication of so many seconds
//   copies 8                                how many GPUs do each device's work alike (default: 1)
//
// A device runs its computations in the order in which they are listed; each waits for the one before it.
#pragma once

#include "records/computation_graph.hpp"

#include <string>
#include <string_view>

namespace zeus::trace {

// `name` is what errors call the file. A string that is not such a file is a corrupt_data Error with name and line. The
// solver finds out whether the dependencies form a cycle.
records::ComputationGraph parse_dag(const std::string& name, std::string_view text);

}  // namespace zeus::trace
