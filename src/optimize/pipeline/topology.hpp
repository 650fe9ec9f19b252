// The order of a computation graph: what can be said of it before any price. Pure functions on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

// Refuses, as invalid_argument Errors that name what is wrong: no computation, an index that points nowhere, a time
// that is negative or not finite, no device or copy, more than can be counted, and a cycle (naming the computations on
// one).
void check(const records::ComputationGraph& graph);

// Every computation after all it depends on. A cycle is an invalid_argument Error.
std::vector<std::size_t> topological_order(const records::ComputationGraph& graph);

// When each computation starts if nobody waits longer than needed; `durations` by computation.
std::vector<Seconds> earliest_starts(const records::ComputationGraph& graph, std::span<const Seconds> durations);

// When the last computation ends.
Seconds iteration_time(const records::ComputationGraph& graph, std::span<const Seconds> durations);

}  // namespace zeus::optimize::pipeline
