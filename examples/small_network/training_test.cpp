#include "training.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace small_network {
namespace {

std::uint64_t fingerprint(const Network<float>& network) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const float parameter : network.parameters()) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(parameter)) * 0x100000001b3U;
  }
  return hash;
}

Settings at_batch(std::size_t batch_size, std::uint64_t seed) {
  return {.batch_size = batch_size, .learning_rate = scaled_by_root(0.05, 64, batch_size), .seed = seed};
}

std::optional<int> epochs_to(double target, int most, const Course& course, const Settings& settings) {
  Training training{course, settings};
  for (int epoch = 1; epoch <= most; ++epoch) {
    training.epoch();
    if (training.accuracy() >= target) {
      return epoch;
    }
  }
  return std::nullopt;
}

constexpr Course clean_course{.seed = 21, .images_per_epoch = 2048, .held_out = 1024, .noise = 0.2};
constexpr Course mislabelled{.seed = 21, .images_per_epoch = 2048, .held_out = 1024, .noise = 0.2, .mislabelled = 0.35};

TEST(Training, LearnsToRecognizeImagesItNeverSaw) {
  Training training{clean_course, at_batch(64, 1)};
  EXPECT_LT(training.accuracy(), 0.4);
  for (int epoch = 0; epoch < 15; ++epoch) {
    training.epoch();
  }
  EXPECT_GT(training.accuracy(), 0.88);
}

TEST(Training, IsTheSameRunForTheSameSeedsWithEveryCompiler) {
  Training training{clean_course, at_batch(32, 5)};
  Training again{clean_course, at_batch(32, 5)};
  Training other{clean_course, at_batch(32, 6)};
  training.epoch();
  again.epoch();
  other.epoch();
  EXPECT_EQ(fingerprint(training.network()), fingerprint(again.network()));
  EXPECT_NE(fingerprint(training.network()), fingerprint(other.network()));
  EXPECT_EQ(fingerprint(training.network()), 0x9a285f8b2d6b484bU);
}

TEST(Training, NeedsMoreEpochsWithLargerBatches) {
  const std::optional<int> small = epochs_to(0.87, 60, clean_course, at_batch(32, 3));
  const std::optional<int> large = epochs_to(0.87, 60, clean_course, at_batch(512, 3));
  ASSERT_TRUE(small && large);
  EXPECT_GE(*large, 2 * *small);
}

TEST(Training, IsTooNoisyWithSmallBatchesIfLabelsAreWrong) {
  EXPECT_TRUE(epochs_to(0.87, 45, mislabelled, at_batch(256, 3)));
  EXPECT_FALSE(epochs_to(0.87, 45, mislabelled, at_batch(8, 3)));
}

TEST(Training, TakesAsManyStepsAsAnEpochHasBatches) {
  Training training{{.seed = 1, .images_per_epoch = 100, .held_out = 10}, at_batch(32, 1)};
  EXPECT_EQ(training.steps_per_epoch(), 4U);
  Training by_steps = training;
  training.epoch();
  for (int i = 0; i < 4; ++i) {
    by_steps.step();
  }
  EXPECT_EQ(fingerprint(training.network()), fingerprint(by_steps.network()));
}

TEST(Training, OfSeveralDevicesDiffersFromThatOfOneByRoundingAlone) {
  Training alone{clean_course, at_batch(128, 4)};
  Training shared{clean_course, at_batch(128, 4)};
  alone.epoch();
  const std::vector<SharedStep> steps = shared.shared_epoch(4);
  EXPECT_EQ(steps.size(), 16U);
  for (const SharedStep& step : steps) {
    EXPECT_GT(step.mean_square, step.square_of_mean);
    EXPECT_GT(step.square_of_mean, 0.0);
  }
  for (std::size_t i = 0; i < parameter_count; ++i) {
    EXPECT_NEAR(alone.network().parameters()[i], shared.network().parameters()[i], 1e-4F);
  }
  EXPECT_EQ((Training{clean_course, at_batch(128, 4)}.shared_epoch(1)[0].mean_square),
            (Training{clean_course, at_batch(128, 4)}.shared_epoch(1)[0].square_of_mean));
}

TEST(Training, LeavesOutTheSharesOfABatchThatIsNotWhole) {
  Training training{{.seed = 1, .images_per_epoch = 100, .held_out = 10}, at_batch(32, 1)};
  EXPECT_EQ(training.shared_epoch(4).size(), 3U);
  training.change_batch(50, 0.05);
  EXPECT_EQ(training.steps_per_epoch(), 2U);
  EXPECT_EQ(training.shared_epoch(2).size(), 2U);
}

TEST(Training, TakesBatchSizesThatCannotBeForTheNearestThatCan) {
  EXPECT_EQ((Training{{.images_per_epoch = 100, .held_out = 10}, at_batch(0, 1)}.steps_per_epoch()), 100U);
  EXPECT_EQ((Training{{.images_per_epoch = 100, .held_out = 10}, at_batch(1000, 1)}.steps_per_epoch()), 1U);
}

TEST(Training, MeasuringAccuracyLeavesTheRunAlone) {
  Training watched{clean_course, at_batch(128, 2)};
  Training alone{clean_course, at_batch(128, 2)};
  for (int i = 0; i < 5; ++i) {
    watched.step();
    EXPECT_GT(watched.accuracy(), 0.0);
    alone.step();
  }
  EXPECT_EQ(fingerprint(watched.network()), fingerprint(alone.network()));
}

}  // namespace
}  // namespace small_network
