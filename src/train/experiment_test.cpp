// bench/train_table.cpp with fewer runs: what docs/train.md promises of a session.
#include "physics/workload.hpp"
#include "tests/support/training_experiment.hpp"

#include <gtest/gtest.h>

namespace zeus::train {
namespace {

TEST(TrainingExperiment, TheAppliedLimitIsWithinOnePercentOfTheBestAndProfilingCostsNextToNothing) {
  int runs = 0;
  int within = 0;
  for (const physics::Workload& workload : physics::workloads()) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed, ++runs) {
      const test::ChoiceOutcome outcome = test::choose_and_account(workload.name(), 3600_s, seed);
      within += outcome.cost <= 1.01 ? 1 : 0;
      EXPECT_LT(outcome.extra_time, 0.001) << workload.name() << " seed " << seed;
    }
  }
  EXPECT_GE(within, runs * 95 / 100);
}

TEST(TrainingExperiment, ProfilingIsCheapInShortEpochsToo) {
  for (const physics::Workload& workload : physics::workloads()) {
    double extra = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      extra += test::choose_and_account(workload.name(), 20_s, seed).extra_time / 5;
    }
    EXPECT_LT(extra, 0.02) << workload.name();
  }
}

TEST(TrainingExperiment, ObservingPredictsARunThatAppliedTheOptimum) {
  for (const char* const workload : {"squad", "imagenet", "cifar100"}) {
    const test::ObserverOutcome outcome = test::observe(workload, 20_s, 1);
    EXPECT_LT(outcome.cost_error, 0.02) << workload;
    EXPECT_LT(outcome.energy_error, 0.02) << workload;
    EXPECT_LT(outcome.time_error, 0.02) << workload;
    EXPECT_TRUE(outcome.within_interval) << workload;
    EXPECT_TRUE(outcome.only_in_slices) << workload;
  }
}

}  // namespace
}  // namespace zeus::train
