#include "physics/workload.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace zeus::physics {
namespace {

TEST(Workload, EveryOneRunsOnEveryGpu) {
  for (const GpuModel& model : presets()) {
    for (const Workload& job : workloads()) {
      const std::vector<int> sizes = job.batch_sizes(model);
      ASSERT_FALSE(sizes.empty());
      EXPECT_TRUE(std::ranges::is_sorted(sizes));
      EXPECT_NE(std::ranges::find(sizes, job.default_batch_size(model)), sizes.end());
      for (const int size : sizes) {
        EpochObservation before = job.epoch(model, model.limits.min, size);
        for (Watts limit = model.limits.min; limit <= model.limits.max; limit += 25_W) {
          const EpochObservation epoch = job.epoch(model, limit, size);
          EXPECT_GT(epoch.time, 0_s);
          EXPECT_LE(epoch.time, before.time) << "a higher limit never takes longer";
          EXPECT_GE(epoch.power, before.power);
          EXPECT_LE(epoch.power, model.limits.max);
          before = epoch;
        }
      }
    }
  }
}

// The number of batch sizes of each of the six workloads in the published traces.
TEST(Workload, HasTheBatchSizesOfThePaper) {
  const GpuModel& v100 = preset("V100");
  EXPECT_EQ(workload("librispeech").batch_sizes(v100).size(), 15U);
  EXPECT_EQ(workload("squad").batch_sizes(v100).size(), 7U);
  EXPECT_EQ(workload("sentiment140").batch_sizes(v100).size(), 5U);
  EXPECT_EQ(workload("imagenet").batch_sizes(v100), (std::vector<int>{64, 128, 192, 256, 360}));
  EXPECT_EQ(workload("cifar100").batch_sizes(v100).size(), 10U);
  EXPECT_EQ(workload("MovieLens").batch_sizes(v100).size(), 13U);
  EXPECT_EQ(workload("squad").batch_sizes(preset("A40")).back(), 56) << "72 has power rows and was never trained";
}

TEST(Workload, DrawsTheSameEpochsFromTheSameSeed) {
  const Workload& job = workload("cifar100");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random first{seed};
    Random second{seed};
    EXPECT_EQ(job.draw_epochs(256, first), job.draw_epochs(256, second));
  }
}

TEST(Workload, EpochsScatterAroundTheirMedianAndGrowBeyondTheKnee) {
  const Workload& job = workload("cifar100");
  double previous = 0.0;
  for (const int size : {64, 256, 1024, 4096}) {
    double sum = 0.0;
    int reached = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      Random random{seed, static_cast<std::uint64_t>(size)};
      if (const auto epochs = job.draw_epochs(size, random)) {
        sum += *epochs;
        ++reached;
      }
    }
    const double mean = sum / reached;
    EXPECT_NEAR(mean / job.definition().epochs.median(size), 1.0, 0.03);
    EXPECT_GT(mean, previous);
    previous = mean;
  }
}

TEST(Workload, RunsBeyondTheEdgesFail) {
  const Workload& job = workload("movielens");
  int failures = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random{seed};
    failures += job.draw_epochs(8, random) ? 0 : 1;
  }
  EXPECT_EQ(failures, 200) << "none of the published runs with batch size 8 reached the target";
  EXPECT_LT(job.definition().epochs.failure_probability(1024), 1e-6);
}

TEST(Workload, TheErrorForAnUnknownNameOrBatchSizeListsTheValidOnes) {
  try {
    static_cast<void>(workload("mnist"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_found);
    EXPECT_NE(std::string{error.what()}.find("librispeech, squad, sentiment140"), std::string::npos);
  }
  try {
    static_cast<void>(workload("imagenet").profile(preset("V100"), 100));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string{error.what()}.find("64, 128, 192, 256, 360"), std::string::npos);
  }
}

}  // namespace
}  // namespace zeus::physics
