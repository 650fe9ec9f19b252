#include "trial/trial.hpp"

#include "tests/support/limited_gpu.hpp"
#include "trial/gpu_instruments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <variant>

namespace zeus::trial {

namespace {

using namespace literals;
using testing::IsEmpty;
using testing::SizeIs;

// Trains in epochs of so many steps, each of so much work under the highest limit, followed by an evaluation.
class PlayedTraining final : public Source {
 public:
  PlayedTraining(test::LimitedGpu& gpu, int steps, Seconds step, Seconds evaluation = 0_s)
      : gpu_{gpu}, steps_{steps}, step_{step}, evaluation_{evaluation} {}

  void start(int /*batch_size*/, std::uint64_t /*seed*/) override {
    state_ = {};
    done_ = 0;
  }
  std::vector<Progress> go_on() override {
    if (state_.exit_code) {
      return {};
    }
    if (prepared_ < preparation_) {
      gpu_.pass(step_);
      return {StepsDone{.ends = ++prepared_ == preparation_, .series = 1}};
    }
    const bool begins = done_ > 0 && done_ % steps_ == 0;
    if (begins && !shows_epochs_) {
      gpu_.pass(gpu_.under_limit(evaluation_));
    }
    gpu_.pass(gpu_.under_limit(step_));
    std::vector<Progress> seen;
    if (shows_steps_) {
      seen.emplace_back(StepsDone{.begins = begins && !counts_on_});
    }
    if (++done_ % steps_ == 0 && shows_epochs_) {
      gpu_.pass(gpu_.under_limit(evaluation_));
      seen.emplace_back(EpochsDone{});
    }
    return seen;
  }
  void stop() override { end(0); }
  [[nodiscard]] State state() override { return state_; }

  void end(int code) { state_.exit_code = code; }
  void show_steps(bool show) { shows_steps_ = show; }
  void show_epochs(bool show) { shows_epochs_ = show; }
  // The numbers of its steps do not begin again.
  void count_on() { counts_on_ = true; }
  // First, a bar of work that no limit slows down.
  void prepare(int steps) { preparation_ = steps; }
  // Its process does not run for so long.
  void stand_still(Seconds time) {
    gpu_.pass(time);
    state_.stood_still += time;
  }

 private:
  test::LimitedGpu& gpu_;
  int steps_;
  Seconds step_;
  Seconds evaluation_;
  bool shows_steps_ = true;
  bool shows_epochs_ = true;
  bool counts_on_ = false;
  int preparation_ = 0;
  int prepared_ = 0;
  int done_ = 0;
  State state_;
};

class TrialTest : public testing::Test {
 protected:
  static constexpr Seconds each{2};

  void start(int steps, Seconds step, Seconds evaluation = 0_s) {
    training_.emplace(gpu_, steps, step, evaluation);
    trial_.emplace(*training_, instruments_, clock_);
    trial_->start(32, 1);
  }
  std::vector<jobs::Try::Event> train(int steps) {
    std::vector<jobs::Try::Event> all;
    for (int i = 0; i < steps; ++i) {
      for (const jobs::Try::Event& event : trial_->go_on()) {
        all.push_back(event);
      }
    }
    return all;
  }
  // Until the limits are measured, and to the end of an epoch of so many steps.
  void train_until_measured(int epoch) {
    for (int i = 0; i < 10'000 && trial_->state().measuring; ++i) {
      train(epoch);
    }
  }
  // What was measured is what is true of a limit.
  void expect_true(const std::vector<records::LimitProfile>& measured, Seconds epoch) {
    for (const records::LimitProfile& one : measured) {
      EXPECT_NEAR(one.average_power.value(), one.limit.value(), 0.02 * one.limit.value());
      EXPECT_NEAR(one.epoch_time / (epoch * std::sqrt(test::LimitedGpu::highest / one.limit)), 1.0, 0.02);
    }
  }

  VirtualClock clock_{{}, WallTime{0}};
  test::LimitedGpu gpu_{clock_};
  GpuInstruments instruments_{gpu_, each, clock_};
  std::optional<PlayedTraining> training_;
  std::optional<Trial> trial_;
  const std::vector<Watts> limits_{100_W, 175_W, 250_W};
};

TEST_F(TrialTest, MeasuresLimitsByStepsAndKeepsTheBest) {
  start(100, 0.2_s);
  trial_->measure(limits_, {});
  train_until_measured(100);
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 20_s);
  EXPECT_EQ(trial_->state().limit, 100_W);
  EXPECT_EQ(gpu_.limit(), 100_W);
}

TEST_F(TrialTest, MeasuresLimitsByEpochsWhereNoStepsAreSeen) {
  start(10, 0.1_s);
  training_->show_steps(false);
  trial_->measure(limits_, {});
  train_until_measured(10);
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 1_s);
}

TEST_F(TrialTest, MeasuresByEpochsFromWhenStepsAreNoLongerSeen) {
  start(20, 0.2_s);
  trial_->measure(limits_, {});
  train(25);
  training_->show_steps(false);
  train_until_measured(20);
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 4_s);
}

TEST_F(TrialTest, TakesShorterSlicesWhereAnEpochIsTooShortForThem) {
  start(20, 0.1_s);
  trial_->measure(limits_, {});
  train_until_measured(20);
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 2_s);
}

// The command prints "step 1" to "step 40" again and again, and nothing else.
TEST_F(TrialTest, WhatLiesBetweenCountsOfStepsIsMeasuredInNone) {
  for (const bool counts_on : {false, true}) {
    SCOPED_TRACE(counts_on ? "it goes on with step 41" : "");
    start(40, 0.2_s, 3_s);
    training_->show_epochs(false);
    if (counts_on) {
      training_->count_on();
    }
    trial_->measure(limits_, {});
    train_until_measured(40);
    ASSERT_THAT(gpu_.compared().measurements, SizeIs(3));
    for (const PowerMeasurement& one : gpu_.compared().measurements) {
      EXPECT_NEAR(one.step_time / (0.2_s * std::sqrt(test::LimitedGpu::highest / one.setting.limit)), 1.0, 0.001);
    }
    trial_.reset();
    gpu_.leave();
  }
}

// Data is made ready, and a bar shows that. Limits are compared in the meantime, all of them or some.
TEST_F(TrialTest, KeepsNothingThatItMeasuredBeforeTheTraining) {
  for (const int preparation : {30, 60, 400}) {
    SCOPED_TRACE(preparation);
    start(100, 0.2_s);
    training_->prepare(preparation);
    trial_->measure(limits_, {});
    train(preparation);
    train(200);
    train_until_measured(100);
    ASSERT_THAT(gpu_.compared().measurements, SizeIs(3));
    for (const PowerMeasurement& one : gpu_.compared().measurements) {
      EXPECT_NEAR(one.step_time / (0.2_s * std::sqrt(test::LimitedGpu::highest / one.setting.limit)), 1.0, 0.001);
    }
    EXPECT_EQ(trial_->state().limit, 100_W);
    trial_.reset();
    gpu_.leave();
  }
}

TEST_F(TrialTest, WatchesALimitAgainThatItWatchedBeforeTheTraining) {
  start(100, 0.2_s);
  training_->prepare(60);
  trial_->measure({175_W}, {});
  train(500);
  ASSERT_THAT(trial_->measured(), SizeIs(1));
  expect_true(trial_->measured(), 20_s);
}

TEST_F(TrialTest, DoesNotSetLimitsBeforeTheTrainingHasWarmedUp) {
  start(100, 0.2_s);
  trial_->measure(limits_, {});
  const Instant began = clock_.now();
  while (gpu_.comparisons().empty()) {
    train(1);
  }
  EXPECT_GE(clock_.now() - began, each);
}

TEST_F(TrialTest, MeasuresAgainWhatWasMeasuredWhenTheTrainingStoodStill) {
  start(100, 0.2_s);
  trial_->measure(limits_, {});
  while (gpu_.compared().measurements.empty()) {
    train(1);
  }
  train(6);  // the next limit has settled
  training_->stand_still(500_s);
  train_until_measured(100);
  train(200);  // an epoch in which it did not stand still
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 20_s);
  EXPECT_EQ(trial_->state().stood_still, 500_s);
}

TEST_F(TrialTest, KeepsItsLimitWhenTheTrainingStoodStillAfterwards) {
  start(100, 0.2_s);
  trial_->measure(limits_, {});
  train_until_measured(100);
  training_->stand_still(500_s);
  train(100);
  ASSERT_THAT(trial_->measured(), SizeIs(3));
  expect_true(trial_->measured(), 20_s);
  EXPECT_EQ(gpu_.limit(), 100_W);
}

// Another night's epochs took twice as long and drew half as much.
TEST_F(TrialTest, ReportsLimitsRelativeToOneThatAnotherTrainingMeasured) {
  start(100, 0.2_s);
  const records::LimitProfile known{.limit = 250_W, .epoch_time = 40_s, .average_power = 125_W};
  trial_->measure({100_W, 175_W}, {.run_time = {}, .reference = known});
  train_until_measured(100);
  const auto measured = trial_->measured();
  ASSERT_THAT(measured, SizeIs(2));
  for (const records::LimitProfile& one : measured) {
    EXPECT_NEAR(one.average_power.value(), 0.5 * one.limit.value(), 2.0);
    EXPECT_NEAR(one.epoch_time.value(), 40.0 * std::sqrt(250_W / one.limit), 1.0);
  }
}

TEST_F(TrialTest, WatchesASingleLimitWithoutDisturbingTheTraining) {
  start(100, 0.2_s);
  trial_->measure({175_W}, {});
  EXPECT_TRUE(trial_->state().measuring);
  EXPECT_FALSE(trial_->state().disturbed);
  EXPECT_EQ(gpu_.limit(), 175_W);
  train(200);
  ASSERT_THAT(trial_->measured(), SizeIs(1));
  expect_true(trial_->measured(), 20_s);
  EXPECT_THAT(gpu_.comparisons(), IsEmpty());
}

TEST_F(TrialTest, WatchesTheLimitInForceWhereItMaySetNone) {
  gpu_.forbid();
  start(100, 0.2_s);
  trial_->measure({250_W}, {});
  train(200);
  ASSERT_THAT(trial_->measured(), SizeIs(1));
  EXPECT_EQ(trial_->state().found, 250_W);
  EXPECT_EQ(gpu_.limit(), 250_W);
}

TEST_F(TrialTest, SaysWhyLimitsAreLeftAloneUntilAnotherTrainingBegins) {
  start(100, 0.2_s);
  gpu_.refuse("another process has it");
  trial_->measure(limits_, {});
  train(200);
  EXPECT_FALSE(trial_->state().measuring);
  EXPECT_EQ(trial_->state().left_alone, "another process has it");
  EXPECT_THAT(trial_->measured(), IsEmpty());
  gpu_.refuse({});
  trial_->start(32, 2);
  EXPECT_EQ(trial_->state().left_alone, "");
  trial_->hold(175_W);
  EXPECT_EQ(gpu_.limit(), 175_W);
}

TEST_F(TrialTest, ALimitThatIsRefusedLeavesTheOneThatWasFound) {
  for (const bool compares : {false, true}) {
    start(100, 0.2_s);
    gpu_.refuse("another process has it");
    if (compares) {
      trial_->measure(limits_, {});
    } else {
      trial_->hold(175_W);
    }
    train(200);
    EXPECT_EQ(trial_->state().limit, std::nullopt);
    EXPECT_EQ(trial_->state().found, 250_W);
    gpu_.refuse({});
  }
}

TEST_F(TrialTest, DoesNotKeepWhatItMeasuredUnderALimitThatIsNotConfirmed) {
  start(100, 0.2_s);
  trial_->measure({175_W}, {});
  gpu_.leave_in_doubt("zeusd is away");
  train(200);
  EXPECT_THAT(trial_->measured(), IsEmpty());
  EXPECT_FALSE(trial_->state().measuring);
  EXPECT_EQ(trial_->state().left_alone, "zeusd is away");
}

TEST_F(TrialTest, ConfirmsItsLimitWhenItReachesItsTargetOrEnds) {
  for (const bool reaches : {true, false}) {
    start(100, 0.2_s);
    trial_->set_target(records::JobTarget{.metric = 0.9});
    trial_->hold(175_W);
    train(50);
    gpu_.leave_in_doubt("zeusd is away");
    EXPECT_EQ(trial_->state().left_alone, "");
    if (reaches) {
      trial_->take(MetricSeen{.value = 0.95});
    } else {
      training_->end(0);
      train(1);
    }
    EXPECT_EQ(trial_->state().left_alone, "zeusd is away");
    gpu_.leave_in_doubt({});
  }
}

TEST_F(TrialTest, CountsTheLimitsThatAShortTrainingLeavesUnmeasured) {
  start(100, 0.2_s);
  trial_->measure(limits_, {});
  train(30);
  training_->end(0);
  train(1);
  trial_->leave();
  EXPECT_EQ(instruments_.unmeasured(), 3U);
  EXPECT_EQ(gpu_.limit(), 250_W);
}

TEST_F(TrialTest, IsChargedToItsTargetAndCountsWhatFollowsApart) {
  start(100, 0.2_s);
  trial_->set_target(records::JobTarget{.metric = 0.9});
  train(50);
  trial_->take(MetricSeen{.value = 0.5});
  EXPECT_FALSE(trial_->has_reached());
  trial_->take(MetricSeen{.value = 0.95});
  EXPECT_TRUE(trial_->has_reached());
  train(20);
  EXPECT_NEAR(trial_->close().time.value(), 10.0, 1e-9);
  EXPECT_NEAR(trial_->close().energy().value(), 2500.0, 1e-6);
  EXPECT_NEAR(instruments_.since_closed().time.value(), 4.0, 1e-9);
}

TEST_F(TrialTest, AMetricThatIsNoNumberReachesNothingAndIsNotKept) {
  start(100, 0.2_s);
  trial_->set_target(records::JobTarget{.metric = 0.9});
  trial_->take(MetricSeen{.value = 0.5});
  trial_->take(MetricSeen{.value = std::numeric_limits<double>::quiet_NaN()});
  trial_->take(MetricSeen{.value = std::numeric_limits<double>::infinity()});
  EXPECT_FALSE(trial_->has_reached());
  EXPECT_EQ(trial_->state().metric, 0.5);
  EXPECT_TRUE(trial_->progress().diverged());
}

TEST_F(TrialTest, AnEnergyThatIsNotKnownStaysUnknown) {
  start(100, 0.2_s);
  train(50);
  gpu_.lose();
  train(50);
  EXPECT_EQ(trial_->taken_so_far().unknown, "the GPU is lost");
  EXPECT_EQ(trial_->close().unknown, "the GPU is lost");
}

TEST_F(TrialTest, ATrainingWithoutVisibleEpochsIsOneEpochIfItSucceeds) {
  for (const int code : {0, 1}) {
    start(100, 0.2_s);
    train(30);
    training_->end(code);
    train(1);
    EXPECT_EQ(trial_->state().epochs, code == 0 ? 1 : 0);
    EXPECT_EQ(trial_->epochs_seen(), 0);
  }
}

TEST_F(TrialTest, ReportsTheStepsThatShowHowATrainingStarts) {
  start(100, 0.2_s);
  trial_->take(StepsDone{.count = 0});  // the first step of a loop begins
  EXPECT_FALSE(trial_->has_news());
  EXPECT_THAT(train(10), SizeIs(2));
  EXPECT_THAT(train(90), SizeIs(1));
}

// The steps of a loop are seen when they begin and end, so the first one counts in full.
TEST_F(TrialTest, KnowsTheEvaluationOfALoopExactly) {
  start(1, 0.1_s);
  for (int i = 0; i < 4; ++i) {
    trial_->take(StepsDone{.count = i == 0 ? 0U : 1U});
    gpu_.pass(1_s);
  }
  trial_->take(StepsDone{});
  gpu_.pass(1_s);
  trial_->take(EpochsDone{});
  EXPECT_DOUBLE_EQ(trial_->state().beside_steps.value(), 0.2);
}

TEST_F(TrialTest, RenewsAHeldLimitWhileNothingHappens) {
  start(1, 70_s);
  training_->show_steps(false);
  trial_->hold(175_W);
  const int signs = gpu_.signs();
  gpu_.pass(61_s);
  train(1);
  EXPECT_GT(gpu_.signs(), signs);
}

}  // namespace
}  // namespace zeus::trial
