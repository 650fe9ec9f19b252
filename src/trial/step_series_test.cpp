#include "trial/step_series.hpp"

#include "tests/support/at_second.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zeus::trial {
namespace {

using test::at_second;

constexpr std::uint32_t bar_of_training = 0;
constexpr std::uint32_t bar_of_evaluation = 1;

class StepSeriesTest : public testing::Test {
 protected:
  // A step of this count ends after so long, and with it perhaps the bar.
  std::string step(std::uint32_t series, double seconds, bool ends = false) {
    now_ += seconds;
    const std::optional<StepsDone> own = series_.take(StepsDone{.ends = ends, .series = series}, at_second(now_));
    taken_ += own ? own->count : 0;
    return own ? (own->changed ? "changed" : own->begins ? "begins" : "step") : "other";
  }
  // So many steps of a bar that comes to its end: what they were taken for, each once in a row.
  std::string bar(std::uint32_t series, int steps, double seconds) {
    std::string all;
    std::string former;
    for (int i = 1; i <= steps; ++i) {
      const std::string one = step(series, seconds, i == steps);
      all += one == former ? "" : " " + one;
      former = one;
    }
    return all;
  }

  StepSeries series_;
  std::uint64_t taken_ = 0;  // steps
  double now_ = 0.0;
};

TEST_F(StepSeriesTest, TheStepsOfAnEvaluationAreNotTheTrainingsAndTheNextOneBeginsACount) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(step(bar_of_training, 0.2), epoch > 0 && i == 0 ? "begins" : "step");
    }
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(step(bar_of_evaluation, 0.1), "other");
    }
  }
}

TEST_F(StepSeriesTest, AnEvaluationThatComesFirstIsSoonNotTheTraining) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(step(bar_of_evaluation, 0.1), "step");
  }
  EXPECT_EQ(step(bar_of_training, 0.2), "other");
  EXPECT_EQ(step(bar_of_training, 0.2), "other");
  taken_ = 0;
  EXPECT_EQ(step(bar_of_training, 0.2), "changed");
  EXPECT_EQ(taken_, 3U) << "with the steps before";
  EXPECT_EQ(step(bar_of_training, 0.2), "step");
  EXPECT_EQ(step(bar_of_evaluation, 0.1), "other");
}

TEST_F(StepSeriesTest, ReportedStepsAreTheTrainingsAtOnceHoweverLongABarWasShownBefore) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(step(bar_of_evaluation, 0.1), "step");
  }
  for (int i = 0; i < 3; ++i) {
    now_ += 0.2;
    const std::optional<StepsDone> own = series_.take(StepsDone{.reported = true}, at_second(now_));
    ASSERT_TRUE(own);
    EXPECT_EQ(own->begins, i == 0);
    EXPECT_EQ(own->changed, i == 0);
  }
}

// "Map: 25000/25000", twice, and then the training.
TEST_F(StepSeriesTest, APreparationHoldsTheTrainingBackForAQuarterOfItsTimeAtMost) {
  (void)bar(bar_of_evaluation, 500, 0.1);
  (void)bar(bar_of_evaluation, 500, 0.1);
  const double began = now_;
  while (step(bar_of_training, 0.2) == "other") {
  }
  EXPECT_LE(now_ - began, 0.25 * 100 + 0.6);
}

TEST_F(StepSeriesTest, AnEvaluationOfLessThanAQuarterOfTheFirstEpochIsNotTakenForTheTraining) {
  (void)bar(bar_of_training, 50, 0.2);
  EXPECT_EQ(bar(bar_of_evaluation, 24, 0.1), " other");
  for (int epoch = 0; epoch < 50; ++epoch) {
    EXPECT_EQ(bar(bar_of_training, 50, 0.2), " begins step");
    EXPECT_EQ(bar(bar_of_evaluation, 24, 0.1), " other");
  }
}

TEST_F(StepSeriesTest, ALongerOneIsOnceAndNoLongerWhenTheTrainingGoesOn) {
  (void)bar(bar_of_training, 50, 0.2);
  EXPECT_EQ(bar(bar_of_evaluation, 60, 0.1), " other changed step");
  for (int epoch = 0; epoch < 50; ++epoch) {
    EXPECT_EQ(bar(bar_of_training, 50, 0.2), epoch == 0 ? " changed step" : " begins step");
    EXPECT_EQ(bar(bar_of_evaluation, 60, 0.1), " other");
  }
}

// A bar, and a line for each step.
TEST_F(StepSeriesTest, AnEvaluationIsNotTheTrainingsWhereEachStepIsShownTwice) {
  constexpr std::uint32_t line = 2;
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (int i = 1; i <= 40; ++i) {
      const std::string taken = step(bar_of_training, 0.2, i == 40);
      EXPECT_EQ(taken, epoch > 0 && i == 1 ? "begins" : "step");
      EXPECT_EQ(step(line, 0.001), "other");
    }
    EXPECT_EQ(bar(bar_of_evaluation, 15, 0.1), " other");
  }
}

TEST_F(StepSeriesTest, AnEvaluationIsApartHoweverLongNothingIsSeenAfterIt) {
  for (int i = 0; i < 20; ++i) {
    (void)step(bar_of_training, 0.2);
  }
  (void)bar(bar_of_evaluation, 10, 0.1);
  EXPECT_EQ(step(bar_of_training, 20), "begins") << "a checkpoint was written";
  EXPECT_EQ(step(bar_of_training, 0.2), "step");
}

// An evaluation that shows nothing.
TEST_F(StepSeriesTest, StepsBeginACountAfterAPauseThatIsSeveralTimesAsLongAsAnyOfLate) {
  for (int i = 0; i < 120; ++i) {
    const bool paused = i > 0 && i % 40 == 0;
    EXPECT_EQ(step(bar_of_training, (i % 2 == 0 ? 0.2 : 0.3) + (paused ? 1.0 : 0.0)), paused ? "begins" : "step") << i;
  }
}

TEST_F(StepSeriesTest, PausesThatComeAgainAfterFewStepsAreTheRhythmOfATraining) {
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(step(bar_of_training, i % 5 == 0 ? 2.2 : 0.2), "step") << i;
  }
}

TEST_F(StepSeriesTest, ALimitThatMakesStepsTwiceAsLongIsNoPause) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(step(bar_of_training, (i % 2 == 0 ? 0.2 : 0.25) * (i / 30 % 2 == 0 ? 1.0 : 2.3)), "step") << i;
  }
}

// The output of a script that holds it back until there are 4 KiB of it.
TEST_F(StepSeriesTest, LinesThatArriveTogetherAreNotParted) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(step(bar_of_training, i % 100 == 0 ? 2.0 : 0.00001), "step") << i;
  }
}

// A bar, and a line for every tenth step.
TEST_F(StepSeriesTest, ALineBesideABarCountsNothingTwiceAndInterruptsNothing) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(step(bar_of_training, 0.1), "step");
    if (i % 10 == 0) {
      EXPECT_EQ(step(bar_of_evaluation, 0.0), "other");
    }
  }
}

}  // namespace
}  // namespace zeus::trial
