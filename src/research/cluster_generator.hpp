// Synthetic groups of recurring, overlapping jobs, modelled on published cluster traces. It assumes: group sizes follow
// a power law (many small groups, few large ones); a group recurs evenly, with jitter, within a random part of the
// whole time; run times of a group are lognormal about its own mean, which is lognormal about the workload's; gaps
// between submissions are independent of run times, so that runs overlap. Values; one thread at a time.
#pragma once

#include "research/cluster_trace.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::research {

struct ClusterPlan {
  std::uint64_t jobs = 1'200'000;
  double days = 61.0;
  std::uint64_t smallest_group = 2;
  std::uint64_t largest_group = 20'000;
  double power = 1.5;  // the exponent of the tail of group sizes, above 1
  std::uint64_t seed = 1;
};

// "jobs=1200000,days=61,min=2,max=20000,power=1.5,seed=1", each part optional. Anything else is an invalid_argument
// Error that states the format.
ClusterPlan parse_cluster_plan(std::string_view text);

struct GeneratedGroup {
  std::size_t workload = 0;
  std::vector<ClusterJob> jobs;
};

// Makes groups one after another until all of the plan's jobs are made.
class ClusterGenerator {
 public:
  // `typical_times` are the workloads' mean run times; groups are spread evenly over them.
  ClusterGenerator(const ClusterPlan& plan, std::vector<Seconds> typical_times);

  // Nothing once all jobs are made.
  std::optional<GeneratedGroup> next();

 private:
  ClusterPlan plan_;
  std::vector<Seconds> typical_times_;
  std::uint64_t made_ = 0;
  std::uint64_t groups_ = 0;
};

}  // namespace zeus::research
