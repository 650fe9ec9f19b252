// A safety margin for the uncertainty of measured times. A pure function on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

namespace zeus::optimize::pipeline {

// The graph with a longer time for every option except that of the computation's highest clock: longer by `share`, and
// the GPU blocks for the rest. Plans then leave that much spare time to computations that they slow down, and ignore
// lower clocks that only seem faster because of noise. A `share` outside 0 to 1 is an invalid_argument Error.
records::ComputationGraph with_margin(records::ComputationGraph graph, double share, Watts blocking_power);

}  // namespace zeus::optimize::pipeline
