// Room for doubt in measured times. A pure function on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

namespace zeus::optimize::pipeline {

// The graph with every option but that of the computation's highest clock taken to last longer by `share`, blocking for
// the rest: plans then leave computations that they slow down so much time to spare, and lower clocks that only noise
// makes look faster are not believed. `share` is from 0 to 1; another one is an invalid_argument Error.
records::ComputationGraph with_margin(records::ComputationGraph graph, double share, Watts blocking_power);

}  // namespace zeus::optimize::pipeline
