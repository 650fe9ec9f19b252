// Cluster traces: jobs that recur in groups and overlap. There are two kinds:
// `group,start_time,end_time,dataset,runtime_ratio` has known workloads; the raw `group,start_time,end_time,status` is
// matched to workloads by run time. Plain values.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::research {

struct ClusterJob {
  Seconds start;
  Seconds end;
  double runtime_ratio = 1.0;  // this job's run time relative to others of its workload
};

struct ClusterGroup {
  std::string name;
  std::optional<std::string> dataset;  // nothing in a raw trace
  std::vector<ClusterJob> jobs;        // in order of start, then of rows
};

// Reads a cluster trace; errors name file and line. Drops rows of a raw trace whose status is not `Terminated`: those
// jobs failed. Groups come in the order of their names, so row order changes nothing.
std::vector<ClusterGroup> parse_cluster_trace(const std::string& name, std::string_view text);

// The groups of several files, as one file with all rows has them: a group may have jobs in each. An Error for a group
// with two data sets, or with one in some files alone.
std::vector<ClusterGroup> joined_groups(std::vector<ClusterGroup> groups);

}  // namespace zeus::research
