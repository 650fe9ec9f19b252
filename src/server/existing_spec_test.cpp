#include "server/existing_spec.hpp"

#include "optimize/batch_size/job_spec.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace zeus::server {
namespace {

ExistingSpec mnist_spec() {
  return {.max_power = 600_W,
          .number_of_gpus = 2,
          .gpu_model = "V100",
          .job_id = "mnist-1",
          .job_id_prefix = "mnist",
          .batch_sizes = {32, 64, 128},
          .default_batch_size = 64,
          .mab_seed = {}};
}

TEST(ExistingSpec, IsAJobUnderThePolicyOfThePaper) {
  ExistingSpec asked = mnist_spec();
  asked.eta_knob = 0.25;
  asked.beta_knob = 3.0;
  asked.target_metric = 1.5;
  asked.higher_is_better_metric = false;
  asked.max_epochs = 7;
  asked.num_pruning_rounds = 1;
  asked.window_size = 5;
  asked.mab_num_explorations = 4;
  asked.mab_prior_mean = -1000.0;
  asked.mab_prior_precision = 0.5;
  asked.mab_seed = 42;
  const records::JobDefinition job = definition_of(asked, "mnist-1");
  EXPECT_EQ(job.policy, "zeus");
  EXPECT_EQ(job.batch_sizes, (std::vector{32, 64, 128}));
  EXPECT_EQ(job.default_batch_size, 64);
  EXPECT_EQ(job.target, (records::JobTarget{.metric = 1.5, .higher_is_better = false}));
  EXPECT_EQ(job.max_epochs, 7);
  EXPECT_EQ(job.eta, 0.25);
  EXPECT_EQ(job.beta, 3.0);
  EXPECT_EQ(job.window, 5U);
  EXPECT_EQ(job.seed, 42U);
  // A reward of -1000 is a cost of 1000.
  EXPECT_EQ(job.zeus, (records::ZeusChoices{
                          .pruning_rounds = 1, .explorations = 4, .prior_cost = 1000_J, .prior_precision = 0.5}));
  EXPECT_EQ(job.device, (records::JobDevice{.model = "V100", .gpus = 2, .max_power = 600_W, .power_limits = {300_W}}));
}

TEST(ExistingSpec, AMissingBoundIsNoBound) {
  ExistingSpec asked = mnist_spec();
  asked.beta_knob.reset();
  asked.window_size = -3;
  const records::JobDefinition job = definition_of(asked, "mnist-1");
  EXPECT_EQ(job.beta, std::numeric_limits<double>::infinity());
  EXPECT_EQ(job.window, 0U);
}

TEST(ExistingSpec, AJobWithoutASeedDrawsByItsNameAndNoGivenSeedDoes) {
  ExistingSpec seeded = mnist_spec();
  seeded.mab_seed = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t unspoken = definition_of(mnist_spec(), "mnist-1").seed;
  EXPECT_EQ(unspoken, definition_of(mnist_spec(), "mnist-1").seed);
  EXPECT_NE(unspoken, definition_of(mnist_spec(), "mnist-2").seed);
  EXPECT_GT(unspoken, definition_of(seeded, "mnist-1").seed);
}

TEST(ExistingSpec, EqualSpecsAreTheSameJobAndAnyDifferenceIsAnother) {
  const records::JobDefinition kept = definition_of(mnist_spec(), "mnist-1");
  EXPECT_TRUE(existing_differences(kept, definition_of(mnist_spec(), "mnist-1")).empty());
  const auto change = [&](const auto& how) {
    ExistingSpec asked = mnist_spec();
    how(asked);
    return existing_differences(kept, definition_of(asked, "mnist-1")).size();
  };
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.batch_sizes = {32, 64}; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.default_batch_size = 32; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.eta_knob = 1.0; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.beta_knob.reset(); }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.target_metric = 0.6; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.higher_is_better_metric = false; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.max_epochs = 10; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.num_pruning_rounds = 3; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.window_size = 3; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.mab_prior_mean = 3.0; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.mab_prior_precision = 3.0; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.mab_num_explorations = 3; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.mab_seed = 3; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.max_power = 500_W; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.number_of_gpus = 3; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.gpu_model = "A100"; }), 1U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.job_id_prefix = "mn"; }), 0U);
  EXPECT_EQ(change([](ExistingSpec& asked) { asked.window_size = -1; }), 0U);
}

// The job refuses what the faults do not cover.
TEST(ExistingSpec, ValuesWithinTheirBoundsMakeAJob) {
  ExistingSpec asked = mnist_spec();
  asked.window_size = 1'000'000;
  asked.num_pruning_rounds = optimize::most_pruning_rounds;
  asked.mab_num_explorations = optimize::most_explorations;
  asked.max_epochs = optimize::most_epochs;
  asked.batch_sizes.clear();
  for (int size = 1; size <= static_cast<int>(optimize::most_batch_sizes); ++size) {
    asked.batch_sizes.push_back(size);
  }
  EXPECT_NO_THROW(definition_of(asked, "mnist-1"));
}

}  // namespace
}  // namespace zeus::server
