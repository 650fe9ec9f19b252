#include "run/heard_progress.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace zeus::run {
namespace {

class HeardProgressTest : public testing::Test {
 protected:
  std::vector<Progress> hear(std::string_view bytes) {
    heard_.hear(0, bytes);
    return heard_.take();
  }

  HeardProgress heard_{PatternTexts{.metric = "val_accuracy: ([0-9.]+)", .epoch = {}, .step = R"(^ *(\d+)/\d+ \[)"}};
};

// As Keras draws it: a bar's line ends when the next bar is drawn; after the last step, that is after evaluation.
TEST_F(HeardProgressTest, DoesNotTimeTheStepsOfABarThatEndsWithItsEpoch) {
  EXPECT_TRUE(hear("\r 1/3 [=>..]").empty());
  const std::vector<Progress> second = hear("\r 2/3 [==>.]");
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(std::get<StepsDone>(second[0]), (StepsDone{.count = 1, .timed = true}));
  EXPECT_EQ(hear("\r 3/3 [====]").size(), 1U);
  const std::vector<Progress> end = hear("\r 3/3 [====] - val_accuracy: 0.5\n");
  ASSERT_EQ(end.size(), 3U);
  EXPECT_EQ(std::get<StepsDone>(end[0]), (StepsDone{.count = 1, .timed = false}));
  EXPECT_TRUE(std::holds_alternative<EpochsDone>(end[2]));
}

TEST_F(HeardProgressTest, TimesTheFirstStepsOfTheNextEpoch) {
  const std::vector<Progress> both = hear("val_accuracy: 0.5\n 1/3 [=>..]\n");
  ASSERT_EQ(both.size(), 3U);
  EXPECT_TRUE(std::get<StepsDone>(both[2]).timed);
}

}  // namespace
}  // namespace zeus::run
