// Computation graphs as text, for pipelines that none of the built-in schedules describes. Pure functions.
//
//   # everything after a hash is ignored; a statement per line, fields separated by blanks
//   profile forward0 1410 0.0402 10.1          a measurement of a kind of computation: MHz, seconds, joules
//   profile load 0 0.002 0.1                   0 MHz where no clock is to be set
//   computation F0.0 0 forward0 forward        name, device, kind, and what the training loop calls it (else its name)
//   dependency F0.0 F1.0 0.0005                the second waits for the first, and for communication of that many
//   seconds copies 8                                   GPUs that do each device's work alike (else 1)
//
// Computations of one device are listed in the order in which it runs them, each waiting for the one before it.
#pragma once

#include "records/computation_graph.hpp"

#include <string>
#include <string_view>

namespace zeus::trace {

// `name` is what the text is called in errors. What is not such a file is a corrupt_data Error with name and line;
// whether the dependencies run in a circle is for the solver to say.
records::ComputationGraph parse_dag(const std::string& name, std::string_view text);

}  // namespace zeus::trace
