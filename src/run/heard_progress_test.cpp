#include "run/heard_progress.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace zeus::run {
namespace {

class HeardProgressTest : public testing::Test {
 protected:
  std::vector<trial::Progress> hear(std::string_view bytes) {
    heard_.hear(0, bytes);
    return heard_.take();
  }

  HeardProgress heard_{PatternTexts{.metric = "val_accuracy: ([0-9.]+)", .epoch = {}, .step = R"(^ *(\d+)/\d+ \[)"}};
};

// As Keras draws it: a bar's line ends when the next bar is drawn; after the last step, that is after evaluation.
TEST_F(HeardProgressTest, SeesABarWhenItIsDrawn) {
  for (const std::string_view drawn : {"\r 1/3 [=>..]", "\r 2/3 [==>.]", "\r 3/3 [====]"}) {
    const std::vector<trial::Progress> step = hear(drawn);
    ASSERT_EQ(step.size(), 1U) << drawn;
    const bool ends = drawn.starts_with("\r 3/3");
    EXPECT_EQ(std::get<trial::StepsDone>(step[0]), (trial::StepsDone{.count = 1, .ends = ends})) << drawn;
  }
  const std::vector<trial::Progress> end = hear("\r 3/3 [====] - val_accuracy: 0.5\n");
  ASSERT_EQ(end.size(), 2U) << "the step is not new";
  EXPECT_TRUE(std::holds_alternative<trial::EpochsDone>(end[1]));
}

// A line that ends may say 0 when the first step is over; a bar says it before that.
TEST_F(HeardProgressTest, ABarThatIsDrawnFromZeroHasAsManyStepsAsItSays) {
  EXPECT_TRUE(hear("\r 0/3 [....]").empty());
  EXPECT_EQ(hear("\r 1/3 [=>..]").size(), 1U);
  EXPECT_EQ(std::get<trial::StepsDone>(hear("\r 2/3 [==>.]").at(0)), trial::StepsDone{.count = 1});
  EXPECT_EQ(std::get<trial::StepsDone>(hear("\r 3/3 [====]").at(0)), (trial::StepsDone{.count = 1, .ends = true}));
  EXPECT_TRUE(hear("\n\r 0/3 [....]").empty());
}

TEST_F(HeardProgressTest, WaitsForANumberThatIsNotComplete) {
  HeardProgress heard{PatternTexts{.metric = {}, .epoch = {}, .step = R"(step (\d+))"}};
  heard.hear(0, "\rstep 1");
  EXPECT_FALSE(heard.any());
  heard.hear(0, "2\r");
  EXPECT_EQ(std::get<trial::StepsDone>(heard.take().at(0)), trial::StepsDone{.count = 1});
}

TEST_F(HeardProgressTest, DoesNotTimeStepsThatAreSeenWithTheEndOfTheirEpoch) {
  const std::vector<trial::Progress> all = hear(" 1/3 [=>..]\n 2/3 [==>.]\nval_accuracy: 0.5\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(std::get<trial::StepsDone>(all[0]), (trial::StepsDone{.count = 2, .timed = false}));
}

TEST_F(HeardProgressTest, SaysThatABarIsAtItsEndAlsoWhenItIsHeardAtOnce) {
  const std::vector<trial::Progress> all = hear(" 1/3 [=>..]\n 2/3 [==>.]\n 3/3 [====]\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(std::get<trial::StepsDone>(all[0]), (trial::StepsDone{.count = 3, .ends = true}));
}

TEST_F(HeardProgressTest, AReportedStepIsNoPartOfAPrintedOne) {
  heard_.hear(0, " 1/3 [=>..]\n");
  heard_.hear_reports("step\n");
  const std::vector<trial::Progress> all = heard_.take();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(std::get<trial::StepsDone>(all[1]).reported);
}

// A bar on standard error is drawn to its end before the epoch is printed, and both are there.
TEST_F(HeardProgressTest, CountsABarOnTheOtherStreamForTheEpochThatIsOver) {
  heard_.hear(1, "\r 1/3 [=>..]\r 2/3 [==>.]");
  (void)heard_.take();
  heard_.hear(0, "val_accuracy: 0.5\n");
  heard_.hear(1, "\r 3/3 [====]\n");
  const std::vector<trial::Progress> all = heard_.take();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(std::get<trial::StepsDone>(all[1]),
            (trial::StepsDone{.count = 1, .timed = false, .ends = true, .series = 1}))
      << "a count of that stream";
  EXPECT_TRUE(std::holds_alternative<trial::EpochsDone>(all[2]));
}

// What was printed may have been anything; what is reported is the training's own.
TEST_F(HeardProgressTest, KeepsAReportedStepApartFromThePrintedOneBefore) {
  heard_.hear(0, "\r 1/3 [=>..]");
  heard_.hear_reports("step\n");
  const std::vector<trial::Progress> all = heard_.take();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(std::get<trial::StepsDone>(all[0]).reported);
  EXPECT_TRUE(std::get<trial::StepsDone>(all[1]).reported);
}

TEST_F(HeardProgressTest, TimesTheFirstStepsOfTheNextEpoch) {
  const std::vector<trial::Progress> both = hear("val_accuracy: 0.5\n 1/3 [=>..]\n");
  ASSERT_EQ(both.size(), 3U);
  EXPECT_TRUE(std::get<trial::StepsDone>(both[2]).timed);
}

}  // namespace
}  // namespace zeus::run
