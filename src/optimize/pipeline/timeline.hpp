// How an iteration runs under a plan: when each computation starts, and which ones determine the iteration time. Pure
// functions on plain values.
#pragma once

#include "records/computation_graph.hpp"
#include "records/pipeline_study.hpp"

#include <zeus/units.hpp>

#include <span>
#include <vector>

namespace zeus::optimize::pipeline {

// `options` by computation; every computation starts as soon as it can. The energy is that of an iteration of `time`,
// which must not be below what the plan takes; the caller sets `bound`.
records::Timeline timeline_of(const records::ComputationGraph& graph, std::span<const records::FrequencyOption> options,
                              Seconds time, Watts blocking_power);

// The fastest option of every computation.
std::vector<records::FrequencyOption> fastest_options(const records::ComputationGraph& graph, Watts blocking_power);

}  // namespace zeus::optimize::pipeline
