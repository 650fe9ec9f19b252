#include "trial/training_progress.hpp"

#include "tests/support/at_second.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace zeus::trial {
namespace {

using test::at_second;

TEST(TrainingProgress, CountsStepsAndEpochs) {
  TrainingProgress progress;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 1; step <= 4; ++step) {
      progress.take(StepsDone{5}, at_second(epoch * 10 + step));
    }
    progress.take(EpochsDone{}, at_second(epoch * 10 + 5));
  }
  EXPECT_EQ(progress.epochs(), 3);
  EXPECT_EQ(progress.steps(), 60U);
  EXPECT_DOUBLE_EQ(
      progress.shape().value_or(EpochShape{}).steps * (1.0 + progress.shape().value_or(EpochShape{}).beside_steps),
      50.0)
      << "10 s, of which 5 steps take one";
}

TEST(TrainingProgress, SeparatesStepsFromTheRestOfAnEpoch) {
  TrainingProgress progress;
  progress.take(StepsDone{1}, at_second(100));
  for (int step = 1; step < 10; ++step) {
    progress.take(StepsDone{1}, at_second(100 + 2 * step));
  }
  EXPECT_DOUBLE_EQ(progress.step_time().value_or(Seconds{}).value(), 2.0);
  progress.take(EpochsDone{}, at_second(118 + 5));
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 10.0);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).beside_steps, 0.25);
}

// A progress bar's last line ends when evaluation is over; the steps in it took none of that time.
TEST(TrainingProgress, TakesNoTimeFromStepsThatAreHeardOfWithTheEndOfTheirEpoch) {
  TrainingProgress progress;
  for (int step = 0; step < 9; ++step) {
    progress.take(StepsDone{1}, at_second(100 + 2 * step));
  }
  progress.take(StepsDone{.count = 1, .timed = false}, at_second(116 + 2 + 5));
  EXPECT_DOUBLE_EQ(progress.step_time().value_or(Seconds{}).value(), 2.0);
  progress.take(EpochsDone{}, at_second(116 + 2 + 5));
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 10.0);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).beside_steps, 5.0 / 20.0);
}

TEST(TrainingProgress, KnowsNothingOfStepsThatItDoesNotSee) {
  TrainingProgress progress;
  EXPECT_FALSE(progress.step_time());
  progress.take(EpochsDone{}, at_second(1));
  EXPECT_FALSE(progress.shape());
  progress.take(StepsDone{3}, at_second(2));
  EXPECT_FALSE(progress.step_time());
}

TEST(TrainingProgress, KeepsTheLastMetricThatIsANumber) {
  TrainingProgress progress;
  EXPECT_FALSE(progress.metric());
  progress.take(MetricSeen{0.5}, at_second(1));
  progress.take(MetricSeen{std::numeric_limits<double>::quiet_NaN()}, at_second(2));
  EXPECT_EQ(progress.metric(), 0.5);
  EXPECT_TRUE(progress.diverged());
}

TEST(TrainingProgress, SharesStepsAmongEpochsThatEndAtOnce) {
  TrainingProgress progress;
  for (int step = 0; step < 50; ++step) {
    progress.take(StepsDone{1}, at_second(1 + step));
  }
  progress.take(EpochsDone{5}, at_second(50));
  EXPECT_EQ(progress.epochs(), 5);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 10.0);
}

// Every tenth of 25 steps is printed: two in the first epoch, three in the second.
TEST(TrainingProgress, AnEpochIsAsLongHoweverManyOfItsStepsAreSeen) {
  TrainingProgress progress;
  for (int step = 1; step <= 100; ++step) {
    if (step % 10 == 0) {
      progress.take(StepsDone{.count = 10}, at_second(step));
    }
    if (step % 25 == 0) {
      progress.take(EpochsDone{}, at_second(step));
      EXPECT_DOUBLE_EQ(
          progress.shape().value_or(EpochShape{}).steps * (1.0 + progress.shape().value_or(EpochShape{}).beside_steps),
          25.0);
    }
  }
}

// A training starts up for as long as it likes, and its first epoch ends before its second has shown when epochs begin.
TEST(TrainingProgress, TheStartIsNoPartOfTheFirstEpoch) {
  TrainingProgress progress;
  for (int step = 1; step <= 10; ++step) {
    progress.take(StepsDone{1}, at_second(1000 + step));
  }
  progress.take(EpochsDone{}, at_second(1012));
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 10.0);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).beside_steps, 0.2);
}

// Epochs are not seen, but their steps are counted from 1; evaluation takes 5 s after each ten.
TEST(TrainingProgress, WhatLiesBetweenTwoCountsIsNoStep) {
  TrainingProgress progress;
  int second = 0;
  for (int step = 0; step < 30; ++step) {
    const bool begins = step > 0 && step % 10 == 0;
    second += begins ? 7 : 2;
    progress.take(StepsDone{.begins = begins}, at_second(second));
  }
  EXPECT_DOUBLE_EQ(progress.step_time().value_or(Seconds{}).value(), 2.0);
  progress.take(EpochsDone{}, at_second(second + 5));
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 30.0);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).beside_steps, 0.25);
}

// "step 100", "step 200", "step 300": with the third it is known that the first stood for a hundred.
// A bar of preparation, and that of the training, whose third step is the first that is known to be one.
TEST(TrainingProgress, ForgetsThePaceOfOtherWork) {
  TrainingProgress progress;
  for (int step = 1; step <= 10; ++step) {
    progress.take(StepsDone{}, at_second(step));
  }
  progress.take(StepsDone{.count = 3, .begins = true, .changed = true}, at_second(16));
  for (int step = 4; step <= 20; ++step) {
    progress.take(StepsDone{}, at_second(10 + 2 * step));
  }
  EXPECT_NEAR(progress.step_time().value().value(), 2.0, 1e-9);
  progress.take(EpochsDone{}, at_second(50));
  EXPECT_NEAR(progress.shape().value().steps, 20.0, 1e-9);
}

TEST(TrainingProgress, StepsOfTheFirstNumberThatAreCountedLateAreStillBeforeIt) {
  TrainingProgress progress;
  progress.take(StepsDone{1}, at_second(1));
  progress.take(StepsDone{100}, at_second(2));
  progress.take(StepsDone{.count = 99, .timed = false}, at_second(3));
  progress.take(StepsDone{100}, at_second(3));
  progress.take(EpochsDone{}, at_second(3));
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).steps, 300.0);
  EXPECT_DOUBLE_EQ(progress.shape().value_or(EpochShape{}).beside_steps, 0.0);
}

}  // namespace
}  // namespace zeus::trial
