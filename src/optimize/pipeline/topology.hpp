// The order of a computation graph: what is known of it before any costs. Pure functions on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

// Throws an invalid_argument Error that names the problem: no computation, an index out of range, a time that is
// negative or not finite, no device or copy, too many computations, or a cycle (with the computations on it).
void check(const records::ComputationGraph& graph);

// Every computation after all those that it depends on. A cycle is an invalid_argument Error.
std::vector<std::size_t> topological_order(const records::ComputationGraph& graph);

// When each computation starts if none waits longer than needed; `durations` by computation.
std::vector<Seconds> earliest_starts(const records::ComputationGraph& graph, std::span<const Seconds> durations);

// When the last computation ends.
Seconds iteration_time(const records::ComputationGraph& graph, std::span<const Seconds> durations);

}  // namespace zeus::optimize::pipeline
