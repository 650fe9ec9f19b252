// A cluster of recurring jobs that overlap within their groups: each group is its own job, which decides with the runs
// that had ended when a run was submitted. Groups are simulated one after another and forgotten. Values; one thread at
// a time.
#pragma once

#include "research/cluster_trace.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace zeus::research {

struct ClusterTotal {
  std::uint64_t groups = 0;
  std::uint64_t jobs = 0;
  std::uint64_t tries = 0;
  std::uint64_t given_up = 0;  // jobs that failed too often; their tries count
  Joules energy;
  Seconds time;
  Joules default_energy;  // what all jobs would take at the default batch size and the maximum limit
  Seconds default_time;
};

// Simulates one group on a workload and adds it to the total. As in the paper, a run ends when the trace's job ended, a
// failed run is repeated for as long again, and its cost is scaled by the job's runtime ratio.
void simulate_group(const simulate::Stage& stage, std::span<const ClusterJob> jobs, double beta,
                    const simulate::PolicyFactory& policy, std::uint64_t seed, ClusterTotal& total);

// Finds the workload that each group of a raw trace resembles: one-dimensional k-means of the groups' mean run times
// into as many clusters as there are workloads, matched in the order of `typical_times`. Also sets each job's runtime
// ratio: its run time divided by its cluster's mean. The result is an index into `typical_times` for each group.
std::vector<std::size_t> assign_workloads(std::vector<ClusterGroup>& groups, std::span<const Seconds> typical_times);

}  // namespace zeus::research
