// What policy `lookahead` makes of events and profiles, worked out by hand. The expected epochs come from an
// EpochBelief that gets the same runs, and the expected value of a trial from value_of: both have tests of their own.

#include "optimize/batch_size/lookahead_policy.hpp"

#include "optimize/batch_size/exploratory_run.hpp"
#include "tests/support/job_events.hpp"
#include "tests/support/restored_policy.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace zeus::optimize {
namespace {

using records::LimitProfile;
using records::TryOutcome;
using records::TryPurpose;
using test::ended;
using test::energy_job;
using test::submitted;

class Job {
 public:
  explicit Job(const JobSpec& spec, const LookaheadTuning& tuning = {})
      : spec_{spec}, profiles_{spec}, policy_{spec, tuning} {}

  void apply(const records::JobEvent& event) {
    test::learn(profiles_, spec_, event);
    policy_.apply(event, profiles_);
  }
  void measure(int batch_size, std::vector<LimitProfile> limits) {
    apply(records::LimitsProfiled{
        .recurrence = 0, .batch_size = batch_size, .limits = std::move(limits), .energy = {}, .time = {}});
  }
  // All limits, of which the middle one is the cheapest.
  void measure_all(int batch_size, double epoch_cost) {
    measure(batch_size, {test::measured(100_W, 1.5 * epoch_cost), test::measured(150_W, epoch_cost),
                         test::measured(200_W, 1.2 * epoch_cost)});
  }
  void start(int batch_size) { apply(submitted(number_++, 0, batch_size)); }
  void end(int batch_size, int epochs, TryOutcome outcome = TryOutcome::reached) {
    apply(ended(number_, 0, batch_size, 1.0, outcome, epochs));
  }
  void run(int batch_size, int epochs, TryOutcome outcome = TryOutcome::reached) {
    start(batch_size);
    end(batch_size, epochs, outcome);
  }

  [[nodiscard]] Decision decide(int tries = 0, std::optional<Joules> best = {}) const {
    return policy_.decide({.spent = {}, .tries = tries, .best = best}, profiles_);
  }
  [[nodiscard]] RunTry run_of(int tries = 0, std::optional<Joules> best = {}) const {
    return std::get<RunTry>(decide(tries, best));
  }
  [[nodiscard]] ProfileLimits profile_of() const { return std::get<ProfileLimits>(decide()); }
  [[nodiscard]] int next() const {
    const Decision decision = decide();
    const auto* run = std::get_if<RunTry>(&decision);
    return spec_.batch_sizes[run != nullptr ? run->arm : std::get<ProfileLimits>(decision).arm];
  }
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs() const { return policy_.beliefs(profiles_); }

 private:
  JobSpec spec_;
  ProfileBook profiles_;
  LookaheadPolicy policy_;
  std::uint64_t number_ = 0;
};

// Allows neither trials nor looks: the best batch size runs.
LookaheadTuning content() {
  LookaheadTuning tuning;
  tuning.least_improvement = 1e9;
  tuning.least_look = 1e9;
  return tuning;
}

EpochEvidence runs(const std::vector<double>& epochs, const std::vector<double>& stopped = {}) {
  EpochEvidence known{.count = static_cast<double>(epochs.size()), .censored = static_cast<double>(stopped.size())};
  for (const double run : epochs) {
    known.mean += std::log(run) / known.count;
  }
  for (const double run : epochs) {
    known.squares += (std::log(run) - known.mean) * (std::log(run) - known.mean);
  }
  for (const double run : stopped) {
    known.bound = std::max(known.bound, std::log(run + 0.5));
  }
  return known;
}

EpochBelief believed(const std::vector<double>& octaves, const std::vector<EpochEvidence>& evidence,
                     const EpochPrior& prior = {}) {
  EpochBelief belief{octaves, prior};
  belief.fit(evidence);
  return belief;
}

// Expects the belief about one arm: its epochs are those of `epochs`, and the logarithm of its epoch cost has the given
// mean and deviation.
void expect_belief(const std::optional<CostBelief>& found, const EpochBelief& epochs, std::size_t arm, double log_cost,
                   double deviation) {
  ASSERT_TRUE(found) << "arm " << arm;
  const double spread = epochs.variance(arm) + deviation * deviation;
  const double middle = log_cost + epochs.mean(arm) + 0.5 * epochs.noise(arm);
  EXPECT_NEAR(std::log(found->expected.value()), middle + 0.5 * spread, 1e-9) << "arm " << arm;
  EXPECT_NEAR(std::log(found->low.value()), middle - 1.959964 * std::sqrt(spread), 1e-5) << "arm " << arm;
  EXPECT_NEAR(std::log(found->high.value()), middle + 1.959964 * std::sqrt(spread), 1e-5) << "arm " << arm;
  EXPECT_NEAR(std::log(found->epochs.value()), epochs.mean(arm) + 0.5 * (epochs.variance(arm) + epochs.noise(arm)),
              1e-9)
      << "arm " << arm;
}

double expected_cost(const EpochBelief& belief, std::size_t arm, double epoch_cost) {
  return epoch_cost * std::exp(belief.mean(arm) + 0.5 * (belief.variance(arm) + belief.noise(arm)));
}

// 16 takes fewer epochs than 32 if it reaches the target at all, which is every second time. A miss costs all the
// allowed epochs.
TEST(LookaheadPolicy, ABatchSizeThatOftenMissesTheTargetIsNotTheBest) {
  const auto best = [](TryOutcome of_every_second) {
    Job job{energy_job({16, 32}, 32), content()};
    job.measure_all(16, 4.0);
    job.measure_all(32, 4.0);
    for (int i = 0; i < 8; ++i) {
      job.run(32, 20);
      job.run(16, 17);
      job.run(16, 17, of_every_second);
    }
    return job.next();
  };
  EXPECT_EQ(best(TryOutcome::reached), 16);
  EXPECT_EQ(best(TryOutcome::exhausted), 32);
}

TEST(LookaheadPolicy, MeasuresTheLargestLimitOfTheDefaultFirst) {
  const Job job{energy_job({8, 16, 32}, 16)};
  EXPECT_EQ(job.profile_of().arm, 1U);
  EXPECT_EQ(job.profile_of().limits, (std::vector{200_W}));
  for (const std::optional<CostBelief>& belief : job.beliefs()) {
    EXPECT_FALSE(belief);
  }
}

// Two limits are missing. Beforehand they take 5 s each, or a third of an epoch if that is less; during the first
// epoch, an eighth of it (as set here). With an epoch of 80 s, 2 x 5 / 80 is 1/8: beforehand. With one of 79 s: during
// the epoch. With one of 12 s, 2 x 1/3 is less than 2 x 5 / 12, but still more than an eighth.
TEST(LookaheadPolicy, MeasuresTheOtherLimitsInTheCheaperWay) {
  LookaheadTuning tuning = content();
  tuning.profiling_epoch = 0.125;
  const auto decide = [&tuning](Seconds epoch) {
    Job job{energy_job({8, 16, 32}, 16), tuning};
    job.measure(16, {LimitProfile{200_W, epoch, 150_W}});
    return job.decide();
  };
  ASSERT_TRUE(std::holds_alternative<ProfileLimits>(decide(80_s)));
  EXPECT_EQ(std::get<ProfileLimits>(decide(80_s)).limits, (std::vector{100_W, 150_W}));
  EXPECT_EQ(std::get<ProfileLimits>(decide(80_s)).arm, 1U);
  for (const Seconds epoch : {79_s, 12_s}) {
    const RunTry run = std::get<RunTry>(decide(epoch));
    EXPECT_TRUE(run.profile);
    EXPECT_EQ(run.arm, 1U);
    EXPECT_EQ(run.purpose, TryPurpose::explore);
    EXPECT_FALSE(run.limit || run.max_epochs || run.usual_cost);
  }
  tuning.profiling_epoch = 0.7;
  EXPECT_TRUE(std::holds_alternative<ProfileLimits>(decide(12_s))) << "two thirds of an epoch, not ten twelfths";
}

// Measuring takes an eighth of an epoch, and saves a share g of 16 runs (the least horizon) of `epochs` epochs each.
TEST(LookaheadPolicy, LeavesLimitsUnmeasuredIfMeasuringCostsMoreThanItSaves) {
  const double epochs = std::exp(believed({-1, 0, 1}, {{}, {}, {}}).mean(1));
  const double even = 0.125 / (16.0 * epochs);
  for (const double epoch : {80.0, 40.0}) {
    for (const double gain : {0.99 * even, 1.01 * even}) {
      LookaheadTuning tuning = content();
      tuning.profiling_epoch = 0.125;
      tuning.limits_gain = gain;
      Job job{energy_job({8, 16, 32}, 16), tuning};
      job.measure(16, {LimitProfile{200_W, Seconds{epoch}, 150_W}});
      const Decision decision = job.decide();
      const auto* run = std::get_if<RunTry>(&decision);
      if (gain < even) {
        EXPECT_TRUE(run != nullptr && !run->profile);
      } else {
        EXPECT_EQ(run == nullptr, epoch == 80.0) << "beforehand; during the epoch where that is shorter";
      }
    }
  }
}

TEST(LookaheadPolicy, MeasuresNothingIfAllLimitsAreKnown) {
  Job job{energy_job({8, 16, 32}, 16), content()};
  job.measure_all(16, 5.0);
  EXPECT_EQ(job.run_of().arm, 1U);
  EXPECT_FALSE(job.run_of().profile);
}

// 16 misses once. Then come the two batch sizes one octave away, the smaller one first; then the default, the nearest
// of all that have missed once.
TEST(LookaheadPolicy, TriesTheFewestMissesThenTheNearestToTheDefaultThenTheSmaller) {
  Job job{energy_job({4, 8, 16, 32, 64}, 16), content()};
  std::vector<int> tried;
  for (int i = 0; i < 7; ++i) {
    const int batch_size = job.next();
    tried.push_back(batch_size);
    job.run(batch_size, 50, i == 6 ? TryOutcome::exhausted : TryOutcome::stopped);
  }
  EXPECT_EQ(tried, (std::vector{16, 8, 32, 4, 64, 16, 8}));
  for (const std::optional<CostBelief>& belief : job.beliefs()) {
    EXPECT_FALSE(belief) << "no run has reached the target";
  }
}

// Measured are 16, at 4 J an epoch with all of its limits, and 128, at 2 J; a neighbour of its best limit is unknown,
// so it may be a tenth cheaper. 8, an octave below, costs a quarter more, with a deviation of a quarter. 256 and 512,
// one and two octaves above, cost a tenth less each. 32 takes half the steps of 16 and 128 an eighth, so an epoch of 32
// costs three sevenths of the difference more than one of 128.
TEST(LookaheadPolicy, InfersEpochCostsFromThoseOfNeighbours) {
  Job job{energy_job({8, 16, 32, 128, 256, 512}, 32), content()};
  job.measure_all(16, 4.0);
  job.measure(128, {test::measured(200_W, 2.0)});
  job.run(16, 20);
  const EpochBelief epochs = believed({-2, -1, 0, 2, 3, 4}, {{}, runs({20}), {}, {}, {}, {}});
  const auto beliefs = job.beliefs();
  expect_belief(beliefs[0], epochs, 0, std::log(4.0) + 0.25, 0.25);
  expect_belief(beliefs[1], epochs, 1, std::log(4.0), 0.0);
  expect_belief(beliefs[2], epochs, 2, std::log(2.0 + 2.0 * 3.0 / 7.0), 0.25 * std::sqrt(1.0 * 2.0 / 3.0) * 0.5);
  expect_belief(beliefs[3], epochs, 3, std::log(2.0), 0.1);
  expect_belief(beliefs[4], epochs, 4, std::log(2.0) - 0.1, 0.25);
  expect_belief(beliefs[5], epochs, 5, std::log(2.0) - 0.2, 0.5);
}

// 16 and 128 are measured again, but an epoch of 128 costs twice as much. The step from 16 to 32 is a seventh of that
// from 16 to 128.
TEST(LookaheadPolicy, InfersRisingEpochCostsFromTheSizeOfSteps) {
  Job job{energy_job({8, 16, 32, 128}, 32), content()};
  job.measure_all(16, 2.0);
  job.measure_all(128, 4.0);
  job.run(16, 20);
  const EpochBelief epochs = believed({-2, -1, 0, 2}, {{}, runs({20}), {}, {}});
  expect_belief(job.beliefs()[2], epochs, 2, std::log(2.0 + 2.0 / 7.0), 0.25 * std::sqrt(1.0 * 2.0 / 3.0) * 0.5);
}

// The best limit may be an unmeasured neighbour of the cheapest one measured; the lower neighbour comes first. There is
// none if both are measured, or at the ends of the range.
TEST(LookaheadPolicy, ALimitNextToTheCheapestMayBeCheaperStill) {
  const auto doubted = [](std::vector<LimitProfile> limits) {
    Job job{energy_job({8, 16}, 16), content()};
    job.measure(16, std::move(limits));
    job.run(16, 20);
    const double best = std::log(job.beliefs()[1]->expected.value());
    const EpochBelief epochs = believed({-1, 0}, {{}, runs({20})});
    const double certain = std::log(expected_cost(epochs, 1, 2.0));
    return std::fabs(best - certain) > 1e-6;
  };
  EXPECT_TRUE(doubted({test::measured(200_W, 2.0)}));
  EXPECT_TRUE(doubted({test::measured(150_W, 2.0), test::measured(200_W, 3.0)})) << "100 W";
  EXPECT_TRUE(doubted({test::measured(100_W, 3.0), test::measured(150_W, 2.0)})) << "200 W";
  EXPECT_FALSE(doubted({test::measured(100_W, 2.0), test::measured(150_W, 3.0)}));
  EXPECT_FALSE(doubted({test::measured(150_W, 3.0), test::measured(200_W, 2.0)}));
  EXPECT_TRUE(doubted({test::measured(100_W, 2.0), test::measured(200_W, 3.0)})) << "150 W, above";
}

// An epoch of one joule is an ordinary cost, though its logarithm is 0.
TEST(LookaheadPolicy, AnEpochOfOneJouleIsAnOrdinaryCost) {
  Job job{energy_job({8, 16}, 16), content()};
  job.measure_all(16, 1.0);
  job.run(16, 20);
  expect_belief(job.beliefs()[1], believed({-1, 0}, {{}, runs({20})}), 1, 0.0, 0.0);
}

TEST(LookaheadPolicy, HasNoCostBeliefsBeforeAnEpochIsMeasured) {
  Job job{energy_job({8, 16}, 16), content()};
  job.run(16, 20);
  for (const std::optional<CostBelief>& belief : job.beliefs()) {
    EXPECT_FALSE(belief);
  }
}

TEST(LookaheadPolicy, LearnsFromRunsThatReachedTheTargetAndFromStoppedOnes) {
  Job job{energy_job({8, 16}, 16), content()};
  job.measure_all(16, 4.0);
  job.run(16, 20);
  job.run(16, 23);
  job.run(16, 21);
  job.run(8, 40, TryOutcome::stopped);
  job.run(8, 30, TryOutcome::exhausted);
  job.run(8, 3, TryOutcome::lost);
  const EpochBelief epochs = believed({-1, 0}, {runs({}, {40, 30}), runs({20, 23, 21})});
  expect_belief(job.beliefs()[0], epochs, 0, std::log(4.0) + 0.25, 0.25);
  expect_belief(job.beliefs()[1], epochs, 1, std::log(4.0), 0.0);
}

// With a window of three, the weight of the three earlier runs is that of two when a fourth arrives: their mean stays,
// with two thirds of their scatter.
TEST(LookaheadPolicy, AWindowLimitsTheWeightOfOldRuns) {
  JobSpec spec = energy_job({8, 16}, 16);
  spec.window = 3;
  Job job{spec, content()};
  job.measure_all(16, 4.0);
  for (const int run : {20, 23, 21, 22}) {
    job.run(16, run);
  }
  const EpochEvidence three = runs({20, 23, 21});
  const double step = std::log(22.0) - three.mean;
  EpochEvidence expected{.count = 3.0, .mean = three.mean + step / 3.0};
  expected.squares = three.squares * 2.0 / 3.0 + step * (std::log(22.0) - expected.mean);
  expect_belief(job.beliefs()[1], believed({-1, 0}, {{}, expected}), 1, std::log(4.0), 0.0);
}

// The belief is computed again once more than a third of an arm's runs is new since the last time (as set here): after
// runs 1, 2, 4 and 7. Of 3 runs, 1 new one is not more than a third; of 4 runs, 2 are.
TEST(LookaheadPolicy, ComputesItsBeliefAgainAfterEnoughNewRuns) {
  LookaheadTuning tuning = content();
  tuning.news = 1.0 / 3.0 + 1e-9;
  Job job{energy_job({8, 16}, 16), tuning};
  job.measure_all(16, 4.0);
  std::vector<double> all;
  std::vector<double> known;
  int unread = 0;
  for (const int run : {20, 23, 21, 22, 24, 20, 21, 25}) {
    job.run(16, run);
    all.push_back(run);
    if (++unread > static_cast<double>(all.size()) / 3.0 + 1e-6) {
      known = all;
      unread = 0;
    }
    expect_belief(job.beliefs()[1], believed({-1, 0}, {{}, runs(known)}), 1, std::log(4.0), 0.0);
  }
  EXPECT_LT(known.size(), all.size()) << "the last run does not count yet";
}

TEST(LookaheadPolicy, RunsTheLeastExpectedCostAndReportsTheUsualCost) {
  Job job{energy_job({8, 16, 32}, 16), content()};
  job.measure_all(16, 4.0);
  job.measure_all(8, 3.0);
  job.measure_all(32, 0.01);
  job.run(16, 20);
  job.run(8, 22);
  const EpochBelief epochs = believed({-1, 0, 1}, {runs({22}), runs({20}), {}});
  ASSERT_LT(expected_cost(epochs, 0, 3.0), expected_cost(epochs, 1, 4.0));
  const RunTry run = job.run_of();
  EXPECT_EQ(run.arm, 0U) << "32 is the cheapest by far, and was never run";
  EXPECT_EQ(run.purpose, TryPurpose::exploit);
  EXPECT_FALSE(run.max_epochs || run.limit || run.profile);
  // One standard deviation above the median.
  EXPECT_NEAR(run.usual_cost->value(), 3.0 * std::exp(epochs.mean(0) + std::sqrt(epochs.variance(0) + epochs.noise(0))),
              1e-9);
}

// A start of 100 J costs the same at every batch size: it does not change the choice between them, but is part of the
// cost of a run.
TEST(LookaheadPolicy, TheStartIsPartOfTheCostOfARun) {
  Job job{energy_job({8, 16}, 16), content()};
  job.measure_all(16, 4.0);
  job.measure_all(8, 3.0);
  job.run(16, 20);
  job.run(8, 22);
  const std::vector<std::optional<CostBelief>> before = job.beliefs();
  const RunTry epochs_alone = job.run_of();
  job.apply(records::StartSeen{.energy = 100_J, .time = 7_s});
  const std::vector<std::optional<CostBelief>> after = job.beliefs();
  for (std::size_t arm = 0; arm < after.size(); ++arm) {
    EXPECT_NEAR((after[arm]->expected - before[arm]->expected).value(), 100.0, 1e-9);
    EXPECT_NEAR((after[arm]->low - before[arm]->low).value(), 100.0, 1e-9);
    EXPECT_NEAR((after[arm]->high - before[arm]->high).value(), 100.0, 1e-9);
    EXPECT_EQ(after[arm]->epochs, before[arm]->epochs);
  }
  EXPECT_EQ(job.run_of().arm, epochs_alone.arm);
  EXPECT_NEAR((*job.run_of().usual_cost - *epochs_alone.usual_cost).value(), 100.0, 1e-9);
}

// A stopped trial pays for a second start, so it is worth less. A cost limit of the job leaves fewer epochs for a
// trial.
TEST(LookaheadPolicy, AStartMakesATrialWorthLess) {
  LookaheadTuning tuning;
  tuning.least_look = 1e9;
  Job job{energy_job({16, 32}, 16), tuning};
  job.measure_all(16, 1.0);
  job.measure_all(32, 0.7);
  job.run(16, 20);
  ASSERT_EQ(job.run_of(0, 30_J).arm, 1U);
  job.apply(records::StartSeen{.energy = 30_J, .time = {}});
  const EpochBelief epochs = believed({0, 1}, {runs({20}), {}});
  const double best = expected_cost(epochs, 0, 1.0);
  const int most = static_cast<int>((2.0 * std::max(40.0, best + 30.0) - 30.0) / 0.7);
  const ExploratoryValue expected = value_of({.arm = 1,
                                              .epoch_cost = 0.7,
                                              .fallback = best,
                                              .start = 30.0,
                                              .horizon = 16.0,
                                              .most_epochs = std::min(most, 100)},
                                             epochs);
  ASSERT_GT(expected.value, 0.0);
  EXPECT_EQ(job.run_of(0, 40_J).arm, 1U);
  EXPECT_EQ(job.run_of(0, 40_J).max_epochs, expected.max_epochs);
  job.apply(records::StartSeen{.energy = 1e6_J, .time = {}});
  EXPECT_EQ(job.run_of(0, 1e6_J).arm, 0U) << "the least that could be saved is a part of the whole run";
}

TEST(LookaheadPolicy, OnOtherDevicesItMeasuresTheBatchSizesThatHaveRun) {
  Job job{energy_job({8, 16, 32}, 16), content()};
  job.measure_all(16, 4.0);
  job.measure_all(32, 3.0);
  job.run(16, 20);
  job.run(32, 20);
  job.apply(records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {250_W, 300_W}});
  EXPECT_EQ(job.profile_of().arm, 1U);
  EXPECT_EQ(job.profile_of().limits, (std::vector{250_W, 300_W}));
  job.measure(16, {test::measured(250_W, 7.0), test::measured(300_W, 8.0)});
  EXPECT_EQ(job.profile_of().arm, 2U);
  job.measure(32, {test::measured(250_W, 9.0), test::measured(300_W, 8.5)});
  EXPECT_EQ(job.run_of().arm, 1U);
  EXPECT_FALSE(job.run_of().profile) << "these devices have no third limit";
  expect_belief(job.beliefs()[1], believed({-1, 0, 1}, {{}, runs({20}), runs({20})}), 1, std::log(7.0), 0.0);
}

// 8 ran first. Each recurrence since then allows 0.02 of a run; a look counts as 0.1 plus its expected loss.
TEST(LookaheadPolicy, LooksAgainOnceTheAllowanceCoversTheLoss) {
  LookaheadTuning tuning;
  tuning.least_improvement = 1e9;
  tuning.curiosity = 0.02;
  const JobSpec spec = energy_job({8, 16}, 16);
  Job job{spec, tuning};
  job.measure_all(8, 4.5);
  job.measure_all(16, 4.0);
  job.run(8, 20);
  std::vector<double> of_16;
  bool looked = false;
  for (int since = 1; since < 40 && !looked; ++since) {
    job.run(16, 20);
    of_16.push_back(20);
    const EpochBelief epochs = believed({-1, 0}, {runs({20}), runs(of_16)});
    const double best = expected_cost(epochs, 1, 4.0);
    const double loses = expected_cost(epochs, 0, 4.5) / best - 1.0;
    ASSERT_GT(loses, 0.0);
    // The run of 8 was the first of since + 1 recurrences, and ended before that one was counted.
    const bool due = 0.02 * (since + 1) > 0.1 + loses;
    const RunTry run = job.run_of(0, Joules{1e9});
    EXPECT_EQ(run.arm, due ? 0U : 1U) << since;
    if (due) {
      EXPECT_EQ(run.purpose, TryPurpose::explore);
      EXPECT_EQ(run.max_epochs, spec.max_epochs);
      EXPECT_NEAR(run.usual_cost->value(), best, 1e-9);
      EXPECT_EQ(job.run_of(1).arm, 1U) << "not after a failed try";
      job.start(8);
      EXPECT_EQ(job.run_of().arm, 1U) << "a try is in flight";
      job.end(8, 20);
      EXPECT_EQ(job.run_of().arm, 1U) << "its try has just ended";
      looked = true;
    }
  }
  EXPECT_TRUE(looked);
}

// A run of 8 that reaches the target takes as many epochs as one of 16, but every second one misses it, and a miss
// costs all the epochs that are allowed. So another look at it waits several times as long.
TEST(LookaheadPolicy, ALookCountsTheRunsThatMiss) {
  const auto looks = [](TryOutcome of_every_second) {
    LookaheadTuning tuning;
    tuning.least_improvement = 1e9;
    tuning.curiosity = 0.02;
    Job job{energy_job({8, 16}, 16), tuning};
    job.measure_all(8, 4.5);
    job.measure_all(16, 4.0);
    for (int i = 0; i < 4; ++i) {
      job.run(8, 20);
      job.run(8, 20, of_every_second);
    }
    for (int i = 0; i < 30; ++i) {
      job.run(16, 20);
    }
    return job.run_of(0, Joules{1e9}).arm == 0U;
  };
  EXPECT_TRUE(looks(TryOutcome::reached));
  EXPECT_FALSE(looks(TryOutcome::exhausted));
}

// Both are cheaper than they were, and both are due; the one with more allowance left comes first.
TEST(LookaheadPolicy, TheMostOverdueBatchSizeComesFirst) {
  LookaheadTuning tuning;
  tuning.least_improvement = 1e9;
  tuning.curiosity = 0.05;
  Job job{energy_job({8, 16, 32}, 16), tuning};
  job.measure_all(8, 4.4);
  job.measure_all(16, 4.0);
  job.measure_all(32, 4.4);
  job.run(32, 20);
  job.run(16, 20);
  job.run(8, 20);
  for (int i = 0; i < 30; ++i) {
    job.run(16, 20);
  }
  EXPECT_EQ(job.next(), 32) << "it has not run for two recurrences more";
  job.run(32, 20);
  EXPECT_EQ(job.next(), 8);
}

// A batch size that is chosen is measured first: at the limit that is best for the best known batch size, then at the
// neighbours of its own cheapest limit, the lower one first. Then it runs.
TEST(LookaheadPolicy, MeasuresANewBatchSizeLimitByLimitBeforeItRuns) {
  LookaheadTuning tuning;
  tuning.least_improvement = 1e9;
  tuning.curiosity = 10.0;
  Job job{energy_job({8, 16}, 16), tuning};
  job.measure_all(16, 4.0);
  job.run(16, 20);
  EXPECT_EQ(job.profile_of().arm, 0U);
  EXPECT_EQ(job.profile_of().limits, (std::vector{150_W}));
  job.measure(8, {test::measured(150_W, 4.0)});
  EXPECT_EQ(job.profile_of().limits, (std::vector{100_W}));
  job.measure(8, {test::measured(100_W, 5.0)});
  EXPECT_EQ(job.profile_of().limits, (std::vector{200_W}));
  job.measure(8, {test::measured(200_W, 5.0)});
  EXPECT_EQ(job.run_of().arm, 0U);
}

// 8 may not be kept, so its other limit is measured only if that pays within this one run. Measuring takes an eighth of
// an epoch and saves a share g of a run of that many epochs.
TEST(LookaheadPolicy, ATrialMeasuresALimitOnlyIfThatPaysWithinTheTrial) {
  const EpochBelief epochs = believed({-1, 0}, {{}, runs({20})});
  const double even = 0.125 / std::exp(epochs.mean(0));
  for (const double gain : {0.99 * even, 1.01 * even}) {
    LookaheadTuning tuning;
    tuning.least_improvement = 1e9;
    tuning.curiosity = 10.0;
    tuning.profiling_epoch = 0.125;
    tuning.limits_gain = gain;
    Job job{energy_job({8, 16}, 16), tuning};
    job.measure_all(16, 4.0);
    job.run(16, 20);
    // 100 W is cheapest, and 150 W next to it costs more; 200 W does not affect the choice.
    job.measure(8, {test::measured(100_W, 4.0), test::measured(150_W, 5.0)});
    const RunTry run = job.run_of();
    EXPECT_EQ(run.arm, 0U);
    EXPECT_EQ(run.profile, gain > even) << "a third of an epoch of 10 s beforehand, an eighth during the epoch";
  }
}

ExploratoryValue worth(const EpochBelief& epochs, std::size_t arm, double epoch_cost, double fallback, double horizon,
                       int most_epochs) {
  return value_of(
      {.arm = arm, .epoch_cost = epoch_cost, .fallback = fallback, .horizon = horizon, .most_epochs = most_epochs},
      epochs);
}

// An epoch of 32 costs a quarter of one of 16; one of 8 costs twice as much. 32 is tried for as long as that is
// worthwhile. The first recurrences count as 16.
TEST(LookaheadPolicy, TriesTheMostValuableBatchSizeForAsLongAsThatPays) {
  LookaheadTuning tuning;
  tuning.least_look = 1e9;
  const JobSpec spec = energy_job({8, 16, 32, 64}, 16);
  Job job{spec, tuning};
  job.measure_all(8, 8.0);
  job.measure_all(16, 4.0);
  job.measure_all(32, 1.5);
  job.measure_all(64, 0.9);
  job.run(16, 20);
  const EpochBelief epochs = believed({-1, 0, 1, 2}, {{}, runs({20}), {}, {}});
  const double best = expected_cost(epochs, 1, 4.0);
  const ExploratoryValue of_32 = worth(epochs, 2, 1.5, best, 16.0, spec.max_epochs);
  const ExploratoryValue of_64 = worth(epochs, 3, 0.9, best, 16.0, spec.max_epochs);
  ASSERT_GT(std::max(of_32.value, of_64.value), 0.0);
  const bool larger = of_64.value > of_32.value;
  const RunTry run = job.run_of();
  EXPECT_EQ(run.arm, larger ? 3U : 2U);
  EXPECT_EQ(run.max_epochs, (larger ? of_64 : of_32).max_epochs);
  EXPECT_EQ(run.purpose, TryPurpose::explore);
  EXPECT_NEAR(run.usual_cost->value(), best, 1e-6 * best) << "except for runs that miss, one in a million";
  EXPECT_EQ(job.run_of(1).arm, 1U) << "one trial a recurrence";
  EXPECT_EQ(job.run_of(1).purpose, TryPurpose::exploit);
  job.start(larger ? 64 : 32);
  EXPECT_EQ(job.run_of().arm, larger ? 2U : 3U) << "the other, while that one runs";
}

// A trial may cost beta times the least cost of a recurrence, or beta times the expected cost of the best known batch
// size if that is more. Beta is 2. A least cost of 30 J exceeds the expected cost of 16, one of 10 J does not. The
// budget limits the number of epochs, at 0.7 J each.
TEST(LookaheadPolicy, ATrialStaysWithinTheCostLimitOfTheJob) {
  LookaheadTuning tuning;
  tuning.least_look = 1e9;
  const JobSpec spec = energy_job({16, 32}, 16);
  Job job{spec, tuning};
  job.measure_all(16, 1.0);
  job.measure_all(32, 0.7);
  job.run(16, 20);
  const EpochBelief epochs = believed({0, 1}, {runs({20}), {}});
  const double best = expected_cost(epochs, 0, 1.0);
  for (const double least : {30.0, 10.0}) {
    const double bound = 2.0 * std::max(least, best);
    const auto most = std::min(spec.max_epochs, static_cast<int>(bound / 0.7));
    ASSERT_LT(most, spec.max_epochs);
    const ExploratoryValue expected = worth(epochs, 1, 0.7, best, 16.0, most);
    ASSERT_GT(expected.value, 0.0);
    EXPECT_EQ(job.run_of(0, Joules{least}).arm, 1U);
    EXPECT_EQ(job.run_of(0, Joules{least}).max_epochs, expected.max_epochs) << least;
  }
}

// Complete knowledge must be able to save at least a hundredth of a run (as set; here the threshold is put just below
// and above what it saves).
TEST(LookaheadPolicy, ABatchSizeThatCouldSaveAlmostNothingIsNotTried) {
  const JobSpec spec = energy_job({16, 32}, 16);
  const EpochBelief epochs = believed({0, 1}, {runs({20}), {}});
  const double best = expected_cost(epochs, 0, 4.0);
  const double saves = possible_improvement(epochs, 1, std::log(1.5), best) * 16.0 / best;
  for (const double share : {0.99, 1.01}) {
    LookaheadTuning tuning;
    tuning.least_look = 1e9;
    tuning.least_improvement = share * saves;
    Job job{spec, tuning};
    job.measure_all(16, 4.0);
    job.measure_all(32, 1.5);
    job.run(16, 20);
    EXPECT_EQ(job.run_of().arm, share < 1.0 ? 1U : 0U);
  }
}

// The cost of an arm that was not measured is assumed one deviation below its expected value. 32 is an octave above 16:
// a tenth cheaper, with a deviation of a quarter.
TEST(LookaheadPolicy, AssumesTheCheapEndForUnmeasuredBatchSizes) {
  const JobSpec spec = energy_job({16, 32}, 16);
  const EpochBelief epochs = believed({0, 1}, {runs({20}), {}});
  const double best = expected_cost(epochs, 0, 4.0);
  // Cheap enough, with a probability of one in six, to be worth measuring.
  const double hoped = std::log(4.0) - 0.1 - std::sqrt(3.0) * 0.25;
  const double saves = possible_improvement(epochs, 1, hoped, best) * 16.0 / best;
  ASSERT_GT(worth(epochs, 1, std::exp(hoped), best, 16.0, spec.max_epochs).value, 6.0 * std::exp(hoped));
  for (const double share : {0.99, 1.01}) {
    LookaheadTuning tuning;
    tuning.least_look = 1e9;
    tuning.least_improvement = share * saves;
    Job job{spec, tuning};
    job.measure_all(16, 4.0);
    job.run(16, 20);
    EXPECT_EQ(std::holds_alternative<ProfileLimits>(job.decide()), share < 1.0);
  }
}

// After n recurrences the horizon is n, or 16 if that is more.
TEST(LookaheadPolicy, TheHorizonGrowsWithTheJob) {
  const JobSpec spec = energy_job({16, 32}, 16);
  for (const int recurrences : {4, 24}) {
    std::vector<double> seen;
    for (int i = 0; i < recurrences; ++i) {
      seen.push_back(20);
    }
    const EpochBelief epochs = believed({0, 1}, {runs(seen), {}});
    const double best = expected_cost(epochs, 0, 4.0);
    const double horizon = recurrences == 4 ? 16.0 : 24.0;
    const double saves = possible_improvement(epochs, 1, std::log(2.0), best) * horizon / best;
    ASSERT_GT(worth(epochs, 1, 2.0, best, horizon, spec.max_epochs).value, 0.0);
    for (const double share : {0.99, 1.01}) {
      LookaheadTuning tuning;
      tuning.least_look = 1e9;
      tuning.least_improvement = share * saves;
      tuning.news = 0.0;
      Job job{spec, tuning};
      job.measure_all(16, 4.0);
      job.measure_all(32, 2.0);
      for (int i = 0; i < recurrences; ++i) {
        job.run(16, 20);
      }
      EXPECT_EQ(job.run_of().arm, share < 1.0 ? 1U : 0U) << recurrences;
    }
  }
}

// Here a single run raises the alarm if a change explains it four times as well.
LookaheadTuning startled() {
  LookaheadTuning tuning = content();
  tuning.change.alarm = std::log(4.0);
  return tuning;
}

// 16 took 20 epochs five times, then 90: a change. If it takes 20 again, the run of 90 was an odd one, and everything
// known before holds again, together with that run. If it keeps taking 90, the change stays.
TEST(LookaheadPolicy, ARunAsBeforeTakesAChangeBack) {
  const auto after = [](int epochs) {
    LookaheadTuning tuning = startled();
    tuning.news = 0.0;
    Job job{energy_job({8, 16}, 16), tuning};
    job.measure_all(8, 4.0);
    job.measure_all(16, 4.0);
    std::vector<double> of_16(5, 20);
    for (int i = 0; i < 5; ++i) {
      job.run(16, 20);
    }
    job.run(8, 20);
    job.run(16, 90);
    of_16.push_back(90);
    for (int i = 0; i < 3; ++i) {
      job.run(16, epochs);
      of_16.push_back(epochs);
    }
    const EpochBelief unchanged = believed({-1, 0}, {runs({20}), runs(of_16)});
    return std::log(job.beliefs()[0]->epochs.value()) -
           (unchanged.mean(0) + 0.5 * (unchanged.variance(0) + unchanged.noise(0)));
  };
  EXPECT_NEAR(after(20), 0.0, 1e-9);
  EXPECT_GT(std::fabs(after(90)), 0.01);
}

// 8 and 16 took 20 epochs each time; now 16 takes 90. The history of 16 is dropped, except that the current belief
// still runs it. That of 8 gains as much variance as the square of the jump that revealed the change, and its stopped
// run no longer counts.
TEST(LookaheadPolicy, AfterAChangeOldRunsCountLess) {
  Job job{energy_job({8, 16}, 16), startled()};
  job.measure_all(8, 4.0);
  job.measure_all(16, 4.0);
  for (int i = 0; i < 5; ++i) {
    job.run(16, 20);
  }
  job.run(8, 20);
  job.run(8, 21);
  job.run(8, 15, TryOutcome::stopped);
  const EpochBelief before = believed({-1, 0}, {runs({20, 21}, {15}), runs({20, 20, 20, 20, 20})});
  const double distance = std::log(90.0) - before.mean(1);
  ASSERT_GT(distance, 0.5);
  job.run(16, 90);
  EpochEvidence of_8 = runs({20, 21});
  of_8.drift = distance * distance;
  EpochBelief after = believed({-1, 0}, {of_8, runs({90})});
  expect_belief(job.beliefs()[1], after, 1, std::log(4.0), 0.0);
  expect_belief(job.beliefs()[0], after, 0, std::log(4.0), 0.0);
  // The next run of 8 starts its history again, so it cannot be a surprise.
  job.run(8, 85);
  after = believed({-1, 0}, {runs({85}), runs({90})});
  expect_belief(job.beliefs()[0], after, 0, std::log(4.0), 0.0);
}

// 100 epochs at 0.26 from the mean are about five deviations of runs that never differed; the least change is 0.5.
TEST(LookaheadPolicy, ASmallChangeAddsTheMinimumVariance) {
  LookaheadTuning tuning = startled();
  tuning.epochs.noises.fill(0.03);
  Job job{energy_job({8, 16}, 16), tuning};
  job.measure_all(8, 4.0);
  job.measure_all(16, 4.0);
  for (int i = 0; i < 8; ++i) {
    job.run(16, 77);
  }
  job.run(8, 77);
  job.run(16, 100);
  EpochEvidence of_8 = runs({77});
  of_8.drift = 0.25;
  expect_belief(job.beliefs()[0], believed({-1, 0}, {of_8, runs({100})}, tuning.epochs), 0, std::log(4.0), 0.0);
}

// Fewer epochs than usual are a sign of change if the target was reached; if the run was stopped early they show
// nothing. More epochs than usual are a sign in either case.
TEST(LookaheadPolicy, AStoppedRunCountsOnlyByTheEpochsItRan) {
  const auto changed = [](int epochs, TryOutcome outcome) {
    Job job{energy_job({8, 16}, 16), startled()};
    job.measure_all(8, 4.0);
    job.measure_all(16, 4.0);
    for (int i = 0; i < 5; ++i) {
      job.run(16, 20);
    }
    job.run(8, 20);
    const double doubt_before = job.beliefs()[0]->high / job.beliefs()[0]->low;
    job.run(16, epochs, outcome);
    return job.beliefs()[0]->high / job.beliefs()[0]->low > 1.5 * doubt_before;
  };
  EXPECT_TRUE(changed(4, TryOutcome::reached));
  EXPECT_FALSE(changed(4, TryOutcome::stopped));
  EXPECT_TRUE(changed(95, TryOutcome::reached));
  EXPECT_TRUE(changed(95, TryOutcome::stopped));
  EXPECT_FALSE(changed(21, TryOutcome::reached));
}

// One run of 20 epochs is known. If the slightest sign counts as a change, a run that was stopped counts as one as soon
// as a change explains it better.
TEST(LookaheadPolicy, AStoppedRunSlightlyLongerThanExpectedIsASlightSignOfChange) {
  LookaheadTuning tuning = startled();
  tuning.change.alarm = 1e-9;
  const EpochBelief before = believed({-1, 0}, {runs({20}), runs({20})}, tuning.epochs);
  const double variance = before.variance(1) + before.noise(1) + 1.0 / 12.0 / 400.0;
  const double deviation = std::sqrt(variance);
  const double moved = variance + tuning.change.distance * tuning.change.distance;
  const double even = std::sqrt(std::log(moved / variance) / (1.0 - variance / moved));
  const auto changed = [&](double surprise) {
    Job job{energy_job({8, 16}, 16), tuning};
    job.measure_all(8, 4.0);
    job.measure_all(16, 4.0);
    job.run(8, 20);
    job.run(16, 20);
    const double doubt_before = job.beliefs()[0]->high / job.beliefs()[0]->low;
    job.run(16, static_cast<int>(std::exp(before.mean(1) + surprise * deviation)), TryOutcome::stopped);
    return job.beliefs()[0]->high / job.beliefs()[0]->low > 1.5 * doubt_before;
  };
  EXPECT_TRUE(changed(1.3 * even));
  EXPECT_FALSE(changed(0.8 * even));
}

// Runs that alternate between 10 and 30 epochs are never a change: that is how the runs of this arm scatter. Nor are
// runs of 1 and 2 epochs, which differ by rounding.
TEST(LookaheadPolicy, ScatterAndRoundingAreNotChanges) {
  LookaheadTuning tuning;
  tuning.least_improvement = 1e9;
  tuning.least_look = 1e9;
  for (const auto& [low, high] : {std::pair{10, 30}, std::pair{1, 2}}) {
    Job job{energy_job({8, 16}, 16), tuning};
    job.measure_all(16, 4.0);
    std::vector<double> seen;
    for (int i = 0; i < 19; ++i) {
      job.run(16, i % 2 == 0 ? low : high);
      seen.push_back(i % 2 == 0 ? low : high);
    }
    expect_belief(job.beliefs()[1], believed({-1, 0}, {{}, runs(seen)}), 1, std::log(4.0), 0.0);
  }
}

TEST(LookaheadPolicy, ContinuesFromItsSavedState) {
  LookaheadTuning tuning = startled();
  tuning.least_improvement = 0.01;
  tuning.least_look = 0.1;
  tuning.curiosity = 0.05;
  tuning.news = 0.3;
  std::vector<records::JobEvent> history;
  const auto measure = [&history](int batch_size, Watts limit, double epoch_cost) {
    history.emplace_back(records::LimitsProfiled{.recurrence = 0,
                                                 .batch_size = batch_size,
                                                 .limits = {test::measured(limit, epoch_cost)},
                                                 .energy = {},
                                                 .time = {}});
  };
  const auto run = [&history](int batch_size, int epochs, TryOutcome outcome = TryOutcome::reached) {
    history.emplace_back(submitted(history.size(), 0, batch_size));
    history.emplace_back(ended(history.size(), 0, batch_size, 1.0, outcome, epochs));
  };
  measure(16, 200_W, 4.0);
  measure(8, 200_W, 3.0);
  for (const int epochs : {20, 22, 21, 20}) {
    run(16, epochs);
  }
  run(8, 30);
  run(32, 12, TryOutcome::stopped);
  history.emplace_back(submitted(70, 0, 32));
  run(8, 25);
  run(16, 80);
  run(16, 70);
  run(8, 9, TryOutcome::lost);
  history.emplace_back(records::DeviceChanged{.model = "other", .max_power = 300_W, .power_limits = {250_W, 300_W}});
  measure(8, 300_W, 3.0);
  measure(16, 300_W, 4.0);
  run(16, 75);
  for (const std::size_t window : {std::size_t{0}, std::size_t{3}}) {
    JobSpec spec = energy_job({8, 16, 32}, 16);
    spec.window = window;
    test::expect_goes_on_from_its_saved_state(
        spec, [&] { return std::make_unique<LookaheadPolicy>(spec, tuning); }, history);
  }
}

TEST(LookaheadPolicy, RefusesAStateForAnotherNumberOfBatchSizes) {
  LookaheadPolicy two{energy_job({8, 16}, 16)};
  LookaheadPolicy used = two;
  const ProfileBook profiles{energy_job({8, 16}, 16)};
  used.apply(ended(0, 0, 16, 1.0), profiles);
  for (const LookaheadPolicy* policy : {&two, &used}) {
    const std::string text = test::saved(*policy);
    LookaheadPolicy three{energy_job({8, 16, 32}, 16)};
    StateReader reader{text};
    EXPECT_THROW(three.restore(reader), Error);
  }
}

}  // namespace
}  // namespace zeus::optimize
