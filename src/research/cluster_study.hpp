// A cluster of recurring jobs on the published workloads: which workload each group is of, and the results under a
// policy as a table or as JSON. Values; one thread at a time.
#pragma once

#include "research/cluster_simulation.hpp"
#include "research/cluster_trace.hpp"
#include "simulate/stage.hpp"
#include "simulate/workload.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::research {

// The published workloads that both traces contain, ready to be simulated.
struct ClusterWorkloads {
  std::vector<simulate::Workload> workloads;
  std::vector<std::string> datasets;
  std::vector<simulate::Stage> stages;
  std::vector<Seconds> typical_times;
};

ClusterWorkloads cluster_workloads(const trace::TrainTrace& train, const trace::PowerTrace& power, double eta);

// The workload of each group: by its data set, or by its run times if the trace names no data set. A data set that is
// not published is an invalid_argument Error that lists those that are.
std::vector<std::size_t> workloads_of(std::vector<ClusterGroup>& groups, const ClusterWorkloads& all);

// The object of the contract in docs/cli.md; `totals` are by workload.
std::string cluster_json(const std::string& policy, const ClusterWorkloads& all,
                         const std::vector<ClusterTotal>& totals);
// The same for people.
std::string cluster_table(const std::string& policy, const ClusterWorkloads& all,
                          const std::vector<ClusterTotal>& totals);

}  // namespace zeus::research
