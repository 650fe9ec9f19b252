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
  // A step of this count ends after so long.
  std::string step(std::uint32_t series, double seconds) {
    now_ += seconds;
    const std::optional<StepsDone> own = series_.take(StepsDone{.series = series}, at_second(now_));
    return own ? (own->begins ? "begins" : "step") : "other";
  }

  StepSeries series_;
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
  EXPECT_EQ(step(bar_of_training, 0.2), "begins");
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
