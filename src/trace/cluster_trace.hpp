// Cluster traces: jobs that recur in groups and overlap. Either `group,start_time,end_time,dataset,runtime_ratio`,
// whose workload is known, or raw `group,start_time,end_time,status`, whose workload is to be found by run time. Plain
// values.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::trace {

struct ClusterJob {
  Seconds start;
  Seconds end;
  double runtime_ratio = 1.0;  // how long this job runs against others of its workload
};

struct ClusterGroup {
  std::string name;
  std::optional<std::string> dataset;  // nothing in a raw trace
  std::vector<ClusterJob> jobs;        // in order of start; row order settles equals
};

// Reads one; errors name file and line. Rows of a raw trace whose status is not `Terminated` are left out: those jobs
// failed. Groups come in the order of their names, so that row order changes nothing.
std::vector<ClusterGroup> parse_cluster_trace(const std::string& name, std::string_view text);

}  // namespace zeus::trace
