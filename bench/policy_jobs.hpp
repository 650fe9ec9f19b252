// The jobs that policies are compared on: those of the published traces, and others that were not used to choose any
// policy's constants. Pure functions of their arguments.
#pragma once

#include "simulate/workload.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace zeus::bench {

struct PolicyJob {
  std::string name;
  simulate::Workload workload;
  double eta = 0.5;
};

struct PolicyTraces {
  // Reads summary_train.csv and summary_power_{v100,a40}.csv.
  explicit PolicyTraces(const std::string& folder);

  trace::TrainTrace train;
  std::vector<trace::PowerTrace> power;
};

// The six published jobs on both GPUs, at the paper's targets or at all others that their default batch size always
// reaches.
enum class Targets { published, others };
std::vector<PolicyJob> trace_jobs(const PolicyTraces& traces, Targets targets, std::span<const double> etas);

// Jobs that are in no trace, drawn by `seed`. One in four is a built-in workload model on a GPU model other than the
// traces'. The rest are a trace's job at any of its targets with everything else changed: the epochs tilted and bent
// over the batch sizes, with new scatter; the GPU faster or slower, better or worse at small batches, with other limits
// that cost more or less time and power; all batch sizes, every second, a few, or twice as many; any default that
// always reaches the target; more or fewer epochs allowed; any eta.
std::vector<PolicyJob> held_out_jobs(const PolicyTraces& traces, std::size_t count, std::uint64_t seed);

}  // namespace zeus::bench
