#include "research/shared_training.hpp"

#include "physics/gpu_model.hpp"
#include "records/limit_profile.hpp"
#include "simulate/workload.hpp"

#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::research {
namespace {

TEST(SharedGpus, TakeTheTimeOfOneAndOfTheExchange) {
  const SharedStepCost fast = SharedGpus{interconnects[0]}.step(32, 300_W);
  const SharedStepCost slow = SharedGpus{interconnects[2]}.step(32, 300_W);
  EXPECT_EQ(fast.compute, slow.compute);
  // 350 MB around a ring of four: 525 MB by each.
  EXPECT_NEAR((fast.whole - fast.compute).value(), 525e6 / 50e9, 1e-12);
  EXPECT_NEAR((slow.whole - slow.compute).value(), 525e6 / 1.2e9, 1e-12);
  const Watts more = (slow.energy - fast.energy) / (slow.whole - fast.whole);
  EXPECT_NEAR(more / physics::preset("A40").power.waiting, 4.0, 1e-9);
}

TEST(SharedGpus, InterpolateBetweenTheBatchSizesOfTheModel) {
  const SharedGpus gpus{interconnects[1]};
  const SharedStepCost low = gpus.step(32, 200_W);
  const SharedStepCost high = gpus.step(64, 200_W);
  const SharedStepCost between = gpus.step(40, 200_W);
  EXPECT_NEAR((between.whole - low.whole) / (high.whole - low.whole), 0.25, 1e-9);
  EXPECT_NEAR((between.energy - low.energy) / (high.energy - low.energy), 0.25, 1e-9);
}

TEST(SharedGpus, HaveAJobWithTheStepsOfItsBatchSizes) {
  const std::vector<std::vector<std::optional<int>>> runs(shared_batch_sizes.size(), {7, std::nullopt, 5});
  const simulate::Workload job = SharedGpus{interconnects[1]}.workload(runs);
  EXPECT_EQ(job.batch_sizes(), std::vector<int>(shared_batch_sizes.begin(), shared_batch_sizes.end()));
  EXPECT_EQ(job.max_power, 1200_W);
  EXPECT_EQ(job.limits().front(), 100_W);
  EXPECT_EQ(job.limits().back(), 300_W);
  EXPECT_EQ(job.arms[0].runs, (std::vector<std::optional<int>>{5, 7, std::nullopt}));
  const SharedStepCost step = SharedGpus{interconnects[1]}.step(64, 300_W);
  const records::LimitProfile& epoch = job.arms[3].limits.back();
  EXPECT_NEAR(epoch.epoch_time / step.whole, 281'241.0 / 256.0, 1e-6);
  EXPECT_NEAR(epoch.average_power * step.whole / step.energy, 1.0, 1e-9);
}

TEST(TrainingByGoodput, IsOneOfGrowingBatchesThatReachesTheTarget) {
  const TrainingByGoodput training = train_by_goodput(SharedGpus{interconnects[1]}, 1);
  EXPECT_TRUE(training.reached);
  EXPECT_EQ(training.batch_sizes.front(), shared_reference);
  EXPECT_GT(training.batch_sizes.back(), shared_reference);
  EXPECT_LE(std::ranges::max(training.batch_sizes), 768);
  Seconds time;
  Joules energy;
  for (const int size : training.batch_sizes) {
    const SharedStepCost step = SharedGpus{interconnects[1]}.step(size / shared_gpus, 300_W);
    time += step.whole * (281'241.0 / size);
    energy += step.energy * (281'241.0 / size);
  }
  EXPECT_EQ(training.time, time);
  EXPECT_EQ(training.energy, energy);
}

TEST(TrainingByGoodput, TakesLargerBatchesWhereAnExchangeCostsMore) {
  const TrainingByGoodput fast = train_by_goodput(SharedGpus{interconnects[0]}, 2);
  const TrainingByGoodput slow = train_by_goodput(SharedGpus{interconnects[2]}, 2);
  EXPECT_GT(slow.batch_sizes[1], fast.batch_sizes[1]);
}

TEST(EpochsWith, IsAFunctionOfSizeAndSeed) {
  EXPECT_EQ(epochs_with(256, 3), epochs_with(256, 3));
  EXPECT_TRUE(epochs_with(256, 3));
}

}  // namespace
}  // namespace zeus::research
