#include "jobs/default_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zeus::jobs {
namespace {

records::JobDevice three_limit_v100() {
  return {.model = "V100", .gpus = 1, .max_power = 250_W, .power_limits = {100_W, 175_W, 250_W}};
}

// Under 250 W an epoch takes 10 s at 200 W; under 100 W it takes 12 s at 90 W.
const std::vector<records::LimitProfile> slices = {{.limit = 100_W, .epoch_time = 12_s, .average_power = 90_W},
                                                   {.limit = 250_W, .epoch_time = 10_s, .average_power = 200_W}};

struct Training {
  int epochs = 10;
  Watts limit = 250_W;
  int batch_size = 32;
  std::optional<Seconds> start = 5_s;
  double slower = 1.0;
};

// A try with a start at 100 W.
records::TryFinished finished(const Training& run) {
  const records::LimitProfile& law = run.limit == 250_W ? slices.back() : slices.front();
  const Seconds epoch = law.epoch_time * run.slower;
  const Seconds start = run.start.value_or(5_s);
  records::TryFinished one;
  one.batch_size = run.batch_size;
  one.energy = 100_W * start + law.average_power * epoch * run.epochs;
  one.result.outcome = records::TryOutcome::reached;
  one.result.progress = {
      .epochs = run.epochs,
      .gpus = {{.gpu = "GPU-0", .energy = {.value = one.energy, .uncertainty = {}, .systematic = {}}}},
      .time = start + epoch * run.epochs};
  one.result.limit = run.limit;
  one.result.whole_epochs = {{.limit = run.limit,
                              .count = run.epochs,
                              .time = epoch * run.epochs,
                              .energy = law.average_power * epoch * run.epochs,
                              .time_deviation = Seconds{},
                              .energy_deviation = Joules{},
                              .start_time = run.start,
                              .start_energy = run.start ? std::optional{100_W * *run.start} : std::nullopt}};
  return one;
}

class DefaultRunsTest : public testing::Test {
 protected:
  DefaultRunsTest() { runs_.define(32, true); }

  void learn(const Training& run) { runs_.learn(three_limit_v100(), finished(run), slices); }

  DefaultRun against(const Training& run) {
    const auto parts = runs_.parts(three_limit_v100(), finished(run), slices);
    const auto epochs = runs_.epochs();
    EXPECT_TRUE(std::holds_alternative<DefaultParts>(parts)) << std::get<std::string>(parts);
    EXPECT_TRUE(std::holds_alternative<EpochCount>(epochs)) << std::get<std::string>(epochs);
    return default_run(std::get<DefaultParts>(parts), std::get<EpochCount>(epochs));
  }

  // Costs are energies.
  DefaultRuns runs_{1.0};
};

TEST_F(DefaultRunsTest, AreAStartAndEpochsUnderTheHighestLimit) {
  for (int night = 0; night < 3; ++night) {
    learn({.limit = 100_W});
  }
  const DefaultRun run = against({.limit = 100_W});
  EXPECT_NEAR(run.value.time.value(), 5 + 10 * 10, 1e-9);
  EXPECT_NEAR(run.value.energy.value(), 500 + 10 * 2000, 1e-9);
  EXPECT_NEAR(run.value.cost.value(), 500 + 10 * 2000, 1e-9);
}

// Measured under 100 W, where an epoch takes 1080 J; by slices it takes 2000 J under 250 W.
TEST_F(DefaultRunsTest, AreUncertainByTheComparisonOfSlicesAndByWhatNoSliceCovers) {
  std::vector<records::LimitProfile> limits = slices;
  for (records::LimitProfile& one : limits) {
    one.epoch_time_uncertainty = 0_s;
    one.average_power_uncertainty = 0.02 * one.average_power;
  }
  records::TryFinished run = finished({.limit = 100_W});
  const auto half_width = [&] {
    runs_.learn(three_limit_v100(), run, limits);
    return std::get<DefaultParts>(runs_.parts(three_limit_v100(), run, limits)).epoch_half_width;
  };
  const double apart = 2000.0 / 1080.0 - 1.0;
  EXPECT_NEAR(half_width(), std::hypot(0.02, 0.02, 0.3 * apart), 1e-9) << "three tenths of an epoch, if unknown";
  run.result.whole_epochs->beside_steps = 0.0;
  EXPECT_NEAR(half_width(), std::hypot(0.02, 0.02), 1e-9);
  // A fifth of an epoch under the highest limit is affected by half: it may be affected fully, or not at all.
  run.result.whole_epochs->beside_steps = 0.2;
  EXPECT_NEAR(half_width(), std::hypot(0.02, 0.02, 0.1 / 0.9 * apart), 1e-9);
}

// Slices of a lower limit may seem a little faster by chance. What whole epochs took under the highest is exact.
TEST_F(DefaultRunsTest, HaveEpochsAsTheyWereSeenUnderTheHighestLimit) {
  std::vector<records::LimitProfile> limits = slices;
  limits.front().epoch_time = 9.9_s;
  const auto epoch = [&](const Training& run) {
    runs_.learn(three_limit_v100(), finished(run), limits);
    return std::get<DefaultParts>(runs_.parts(three_limit_v100(), finished(run), limits)).epoch.time;
  };
  EXPECT_EQ(epoch({.limit = 100_W}), 9.9_s) << "a lower limit makes nothing faster";
  EXPECT_EQ(epoch({.limit = 250_W}), 10_s);
}

TEST_F(DefaultRunsTest, HaveTheMeanNumberOfEpochs) {
  for (const int epochs : {8, 10, 12}) {
    learn({.epochs = epochs});
  }
  // Whatever this one's luck. Of three runs with a deviation of a fifth: 4.303 x 0.2 / sqrt(3) in logarithms.
  const DefaultRun run = against({.epochs = 12});
  EXPECT_NEAR(run.value.time.value(), 105.0, 1e-9);
  EXPECT_NEAR(run.by_count.time.value(), 100.0 * (std::exp(4.303 * 0.2 / std::sqrt(3.0)) - 1.0), 1e-6);
}

TEST_F(DefaultRunsTest, AreUnknownUntilTheScatterIsKnown) {
  learn({.epochs = 10});
  learn({.epochs = 10});
  EXPECT_TRUE(std::holds_alternative<std::string>(runs_.epochs()));
  learn({.epochs = 10});
  EXPECT_TRUE(std::holds_alternative<EpochCount>(runs_.epochs()));
}

TEST_F(DefaultRunsTest, LearnTheScatterFromOtherBatchSizesToo) {
  learn({.epochs = 10});
  for (const int epochs : {40, 50, 60}) {
    learn({.epochs = epochs, .batch_size = 64});
  }
  const DefaultRun run = against({.epochs = 50, .batch_size = 64});
  EXPECT_NEAR(run.value.time.value(), 105.0, 1e-9);
  // Two independent differences with a deviation of a fifth, and one run.
  EXPECT_NEAR(run.by_count.time.value(), 100.0 * (std::exp(4.303 * 0.2) - 1.0), 1e-6);
}

TEST_F(DefaultRunsTest, StartOverWithAnotherTarget) {
  for (int night = 0; night < 3; ++night) {
    learn({});
  }
  runs_.define(64, true);
  EXPECT_TRUE(std::holds_alternative<std::string>(runs_.epochs()));
}

TEST_F(DefaultRunsTest, KeepCountsWhenOnlyTheDefaultChanges) {
  for (int night = 0; night < 3; ++night) {
    learn({.epochs = 10});
    learn({.epochs = 40, .batch_size = 64});
  }
  runs_.choose(64);
  EXPECT_DOUBLE_EQ(std::get<EpochCount>(runs_.epochs()).mean, 40.0);
}

// A script that prints no epochs counts as one epoch, and its length differs from night to night.
TEST_F(DefaultRunsTest, CountSecondsIfNoEpochsAreReported) {
  runs_.define(32, false);
  for (const double slower : {0.8, 1.0, 1.2}) {
    learn({.epochs = 1, .limit = 100_W, .slower = slower});
  }
  const DefaultRun run = against({.epochs = 1, .limit = 100_W, .slower = 1.2});
  EXPECT_NEAR(run.value.time.value(), 5 + 10, 1e-9);
  EXPECT_NEAR(run.value.energy.value(), 500 + 2000, 1e-9);
  EXPECT_GT(run.by_count.energy.value(), 0.0);
}

// Seconds on one kind of device say nothing about another, and seconds are not epochs.
TEST_F(DefaultRunsTest, CountOnlyComparableSecondsTogether) {
  runs_.define(32, false);
  for (int night = 0; night < 3; ++night) {
    learn({.epochs = 1});
  }
  ASSERT_TRUE(std::holds_alternative<EpochCount>(runs_.epochs()));
  EXPECT_EQ(std::get<EpochCount>(runs_.epochs()).unit, Unit::second);
  records::JobDevice two = three_limit_v100();
  two.gpus = 2;
  runs_.learn(two, finished({.epochs = 1}), slices);
  EXPECT_TRUE(std::holds_alternative<std::string>(runs_.epochs()));
  for (int night = 0; night < 3; ++night) {
    learn({.epochs = 4});
  }
  EXPECT_EQ(std::get<EpochCount>(runs_.epochs()).unit, Unit::epoch);
  EXPECT_DOUBLE_EQ(std::get<EpochCount>(runs_.epochs()).mean, 4.0);
}

TEST_F(DefaultRunsTest, AreWholeRunsOfTheDefaultIfNothingInsideThemWasMeasured) {
  runs_.define(32, false);
  for (const double slower : {0.8, 1.0, 1.2}) {
    const Training run{.epochs = 1, .start = {}, .slower = slower};
    learn(run);
  }
  const auto parts = runs_.parts(three_limit_v100(), finished({.epochs = 1, .start = {}}), slices);
  ASSERT_TRUE(std::holds_alternative<DefaultParts>(parts)) << std::get<std::string>(parts);
  const DefaultRun run = default_run(std::get<DefaultParts>(parts), {});
  EXPECT_NEAR(run.value.time.value(), 15.0, 1e-9);
  EXPECT_NEAR(run.by_start.time.value(), 4.303 * 2.0 / std::sqrt(3.0), 1e-6);
}

// Three runs of two epochs each may hide a scatter of a quarter of an epoch.
TEST_F(DefaultRunsTest, StayUncertainWhenAllRunsTakeEquallyManyEpochs) {
  for (int night = 0; night < 3; ++night) {
    learn({.epochs = 2, .start = {}});
  }
  const auto parts = runs_.parts(three_limit_v100(), finished({.epochs = 2, .start = {}}), slices);
  ASSERT_TRUE(std::holds_alternative<DefaultParts>(parts)) << std::get<std::string>(parts);
  const DefaultParts& found = std::get<DefaultParts>(parts);
  EXPECT_NEAR(found.start_half_width.energy / found.start.energy, 4.303 * 0.125 / std::sqrt(3.0), 1e-9);
}

// Slices compare steps; the rest of an epoch may not slow down under a limit at all.
TEST_F(DefaultRunsTest, AreLessCertainTheFurtherLimitsLieApart) {
  learn({.limit = 100_W});
  const DefaultParts far = std::get<DefaultParts>(runs_.parts(three_limit_v100(), finished({.limit = 100_W}), slices));
  // The slices count as a hundredth if their uncertainty is unknown.
  EXPECT_NEAR(far.epoch_half_width, std::hypot(0.01, 0.3 * (2000.0 / 1080.0 - 1.0)), 1e-6);
  learn({.limit = 250_W});
  const DefaultParts seen = std::get<DefaultParts>(runs_.parts(three_limit_v100(), finished({.limit = 250_W}), slices));
  EXPECT_DOUBLE_EQ(seen.epoch_half_width, 0.0);
}

TEST_F(DefaultRunsTest, ExcludeShortRuns) {
  learn({});
  records::TryFinished one = finished({});
  one.result.progress.time = 1.9_s;
  EXPECT_TRUE(std::holds_alternative<std::string>(runs_.parts(three_limit_v100(), one, slices)));
}

}  // namespace
}  // namespace zeus::jobs
