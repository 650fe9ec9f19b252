#include "optimize/recurrence/judgement.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace zeus::optimize {
namespace {

using records::TryOutcome;

// A try that its policy allows 10 of the job's 50 epochs.
const Judgement capped{
    .target = records::JobTarget{.metric = 0.6}, .max_epochs = 10, .job_epochs = 50, .budget = 1000_J};
const Judgement whole{.target = records::JobTarget{.metric = 0.6}, .max_epochs = 50, .job_epochs = 50, .budget = {}};

TEST(Judgement, LetsATryContinueWithinItsBounds) {
  EXPECT_EQ(capped.after_epoch(3, 500_J, 100_J), std::nullopt);
  EXPECT_EQ(capped.after_epoch(3, 500_J, {}), std::nullopt);
  EXPECT_EQ(capped.meanwhile(1000_J), std::nullopt);
}

TEST(Judgement, ATryThatUsedUpTheJobsEpochsIsExhaustedAndOneThatUsedUpFewerIsStopped) {
  EXPECT_EQ(whole.after_epoch(50, 1e6_J, {}), TryOutcome::exhausted);
  EXPECT_EQ(whole.after_epoch(49, 1e6_J, {}), std::nullopt);
  EXPECT_EQ(capped.after_epoch(10, 500_J, 10_J), TryOutcome::stopped);
}

TEST(Judgement, ATryThatUsedUpTheJobsEpochsIsExhaustedAtAnyCost) {
  Judgement both = whole;
  both.budget = 1000_J;
  EXPECT_EQ(both.after_epoch(50, 2000_J, {}), TryOutcome::exhausted);
}

TEST(Judgement, StopsBeforeAnEpochThatWouldCostTooMuch) {
  EXPECT_EQ(capped.after_epoch(3, 500_J, 501_J), TryOutcome::stopped);
  EXPECT_EQ(capped.after_epoch(3, 500_J, 500_J), std::nullopt);
  EXPECT_EQ(capped.after_epoch(0, 0_J, 1001_J), TryOutcome::stopped) << "not even one epoch";
}

TEST(Judgement, StopsWithinAnEpochThatNeverEnds) {
  EXPECT_EQ(capped.meanwhile(1001_J), TryOutcome::stopped);
}

TEST(Judgement, AppliesOnlyTheBoundsThatItHas) {
  const Judgement free;
  EXPECT_EQ(free.after_epoch(100, 1e12_J, 1e12_J), std::nullopt);
  EXPECT_EQ(free.meanwhile(1e12_J), std::nullopt);
  EXPECT_FALSE(free.reaches(1.0));
}

TEST(Judgement, ReachesItsTargetFromTheRightSide) {
  EXPECT_TRUE(capped.reaches(0.6));
  EXPECT_FALSE(capped.reaches(0.59));
  const Judgement lower{
      .target = records::JobTarget{.metric = 40, .higher_is_better = false}, .max_epochs = {}, .budget = {}};
  EXPECT_TRUE(lower.reaches(40));
  EXPECT_FALSE(lower.reaches(41));
  for (const Judgement& one : {capped, lower}) {
    EXPECT_FALSE(one.reaches(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(one.reaches(std::numeric_limits<double>::infinity()));
    EXPECT_FALSE(one.reaches(-std::numeric_limits<double>::infinity()));
  }
}

TEST(Judgement, ItsOwnEndIsASuccessWithoutATargetAndAMissWithOne) {
  EXPECT_EQ(Judgement{}.at_end(false, false), TryOutcome::reached);
  EXPECT_EQ(Judgement{}.at_end(true, false), TryOutcome::lost);
  EXPECT_EQ(capped.at_end(false, true), TryOutcome::exhausted);
  EXPECT_EQ(capped.at_end(false, false), TryOutcome::lost) << "its metric was never seen";
  EXPECT_EQ(capped.at_end(true, true), TryOutcome::lost);
}

TEST(Judgement, ForeseesHowManyEpochsFitIntoTheBudget) {
  const auto expect = [](const Judgement::Foreseen& seen, TryOutcome outcome, int epochs) {
    EXPECT_EQ(seen.outcome, outcome);
    EXPECT_EQ(seen.epochs, epochs);
  };
  expect(capped.foresee(7, 140_J), TryOutcome::reached, 7);
  expect(capped.foresee(8, 140_J), TryOutcome::stopped, 7);
  expect(capped.foresee({}, 10_J), TryOutcome::stopped, 10);
  expect(capped.foresee(1, 1001_J), TryOutcome::stopped, 0);
  expect(whole.foresee({}, 1e6_J), TryOutcome::exhausted, 50);
  expect(whole.foresee(50, 1e6_J), TryOutcome::reached, 50);
  expect(capped.foresee(7, 140_J, 21_J), TryOutcome::stopped, 6);
  expect(capped.foresee({}, 1001_J, {}, 1), TryOutcome::stopped, 1);
  expect(capped.foresee(1, 900_J, 200_J, 1), TryOutcome::reached, 1);
}

// The prediction agrees with judging each epoch.
TEST(Judgement, ForeseesWhatJudgingEachEpochGives) {
  for (const int needed : {1, 3, 9, 10, 11, 60}) {
    for (const double epoch : {15.0, 90.0, 130.0, 340.0, 1100.0}) {
      for (const double beside : {0.0, 35.0, 450.0}) {
        for (Judgement judgement : {capped, whole}) {
          judgement.budget = 1000_J;
          int epochs = 0;
          std::optional<TryOutcome> outcome;
          while (!(outcome = epochs >= needed
                                 ? std::optional{TryOutcome::reached}
                                 : judgement.after_epoch(epochs, Joules{beside + epochs * epoch}, Joules{epoch}))) {
            ++epochs;
          }
          const Judgement::Foreseen seen = judgement.foresee(needed, Joules{epoch}, Joules{beside});
          EXPECT_EQ(seen.outcome, *outcome) << needed << ' ' << epoch << ' ' << beside;
          EXPECT_EQ(seen.epochs, epochs) << needed << ' ' << epoch << ' ' << beside;
        }
      }
    }
  }
}

TEST(EpochsWithin, AreThoseThatTheBudgetCovers) {
  EXPECT_EQ(epochs_within(100_J, 30_J, 10), 3);
  EXPECT_EQ(epochs_within(100_J, 50_J, 10), 2);
  EXPECT_EQ(epochs_within(100_J, 1_J, 10), 10);
  EXPECT_EQ(epochs_within(-1_J, 30_J, 10), 0);
  EXPECT_EQ(epochs_within({}, 30_J, 10), 10);
  EXPECT_EQ(epochs_within(100_J, 0_J, 10), 10);
}

TEST(OutcomeOfCrash, CountsAsAMissOnlyIfOthersHaveWorked) {
  EXPECT_EQ(outcome_of_crash(false, false, true), TryOutcome::exhausted);
  EXPECT_EQ(outcome_of_crash(true, false, true), TryOutcome::lost);
  EXPECT_EQ(outcome_of_crash(false, true, true), TryOutcome::lost);
  EXPECT_EQ(outcome_of_crash(false, false, false), TryOutcome::lost);
}

}  // namespace
}  // namespace zeus::optimize
