// The jobs that policies are compared on: those of the published traces, and others that no constant of any policy was
// chosen by. Pure functions of their arguments.
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

// Jobs that no trace holds, drawn by `seed`. One in four is a built-in workload model on a GPU model other than the
// traces'. The rest are a trace's job at any of its targets with everything else made another: the epochs tilted and
// bent over the batch sizes and scattered anew; the GPU faster or slower, better or worse at small batches, with other
// limits that cost more or less time and power; the set of batch sizes whole, every second, a few, or twice as many;
// the default anywhere among those that always reach the target; more or fewer epochs allowed; any eta.
std::vector<PolicyJob> held_out_jobs(const PolicyTraces& traces, std::size_t count, std::uint64_t seed);

}  // namespace zeus::bench
