#include "research/cluster_simulation.hpp"
#include "research/cluster_generator.hpp"
#include "tests/support/small_workload.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace zeus::research {
namespace {

TEST(Cluster, GeneratesExactlyTheJobsAskedForInOrder) {
  ClusterGenerator generator{parse_cluster_plan("jobs=5000,max=400,seed=3"), {100_s, 1000_s}};
  std::size_t jobs = 0;
  while (const auto group = generator.next()) {
    jobs += group->jobs.size();
    EXPECT_TRUE(std::ranges::is_sorted(group->jobs, {}, &ClusterJob::start));
    EXPECT_LE(group->jobs.size(), 400U);
  }
  EXPECT_EQ(jobs, 5000U);
}

TEST(Cluster, RefusesAnImpossiblePlan) {
  for (const char* text : {"jobs", "jobs=0", "jobs=nan", "jobs=1e99", "power=1", "min=9,max=3", "days=-1", "x=1"}) {
    EXPECT_THROW(parse_cluster_plan(text), Error) << text;
  }
}

TEST(Cluster, OverlappingJobsAreDecidedByTheRunsThatHadEnded) {
  const simulate::Workload workload = simulate::small_workload();
  const simulate::Stage stage{workload, 0.5};
  std::vector<ClusterJob> jobs;
  for (int job = 0; job < 60; ++job) {
    jobs.push_back({.start = Seconds{100.0 * job}, .end = Seconds{100.0 * job + 250.0}, .runtime_ratio = 1.0});
  }
  ClusterTotal total;
  simulate_group(stage, jobs, 2.0, simulate::named("lookahead"), 1, total);
  EXPECT_EQ(total.jobs, 60U);
  EXPECT_GE(total.tries, 60U);
  EXPECT_LT(total.energy, total.default_energy);
  EXPECT_EQ(total.given_up, 0U);
}

TEST(Cluster, RawGroupsAreMatchedByRunTime) {
  std::vector<ClusterGroup> groups;
  for (const double time : {10.0, 11.0, 1000.0, 1100.0, 12.0}) {
    groups.push_back({.name = "g", .dataset = {}, .jobs = {{0_s, Seconds{time}, 1.0}}});
  }
  const std::array<Seconds, 2> typical = {5000_s, 30_s};
  EXPECT_EQ(assign_workloads(groups, typical), (std::vector<std::size_t>{1, 1, 0, 0, 1}));
  EXPECT_NEAR(groups[0].jobs[0].runtime_ratio, 10.0 / 11.0, 1e-12);
}

}  // namespace
}  // namespace zeus::research
