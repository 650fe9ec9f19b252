#include "run/stop_rule.hpp"

#include <limits>

namespace zeus::run {
namespace {

const StopRule bounded{.target = records::JobTarget{.metric = 0.6}, .max_epochs = 10, .budget = Joules{1000}};

TEST(StopRule, GoesOnWithinItsBounds) {
  EXPECT_EQ(bounded.after_epoch(3, Joules{500}, Joules{100}), Verdict::go_on);
  EXPECT_EQ(bounded.meanwhile(Joules{1000}), Verdict::go_on);
}

TEST(StopRule, EndsWithTheMostEpochs) {
  EXPECT_EQ(bounded.after_epoch(10, Joules{500}, Joules{10}), Verdict::exhausted);
}

TEST(StopRule, EndsBeforeAnEpochThatWouldCostTooMuch) {
  EXPECT_EQ(bounded.after_epoch(3, Joules{500}, Joules{501}), Verdict::too_dear);
  EXPECT_EQ(bounded.after_epoch(3, Joules{500}, Joules{500}), Verdict::go_on);
}

TEST(StopRule, EndsInTheMiddleOfAnEpochThatNeverEnds) {
  EXPECT_EQ(bounded.meanwhile(Joules{1001}), Verdict::too_dear);
}

TEST(StopRule, HasNoBoundThatItWasNotGiven) {
  const StopRule free{.max_epochs = 1};
  EXPECT_EQ(free.after_epoch(100, Joules{1e12}, Joules{1e12}), Verdict::go_on);
  EXPECT_EQ(free.meanwhile(Joules{1e12}), Verdict::go_on);
  EXPECT_FALSE(free.reaches(1.0));
}

TEST(StopRule, ReachesItsTargetFromTheRightSide) {
  EXPECT_TRUE(bounded.reaches(0.6));
  EXPECT_FALSE(bounded.reaches(0.59));
  const StopRule lower{.target = records::JobTarget{.metric = 40, .higher_is_better = false}, .max_epochs = 1};
  EXPECT_TRUE(lower.reaches(39));
  EXPECT_FALSE(lower.reaches(41));
  EXPECT_FALSE(lower.reaches(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace zeus::run
