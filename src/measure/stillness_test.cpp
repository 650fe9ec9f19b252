#include "measure/stillness.hpp"

#include <gtest/gtest.h>

namespace zeus::measure {

namespace {

using namespace literals;

class StillnessTest : public testing::Test {
 protected:
  // A turn at this time, with the next one due a tenth of a second later.
  void turn(Seconds at, Seconds used) { stillness_.mark(Instant{} + at, Instant{} + at + 0.1_s, used); }
  [[nodiscard]] Seconds total(Seconds at, Seconds used) const { return stillness_.total(Instant{} + at, used); }

  Stillness stillness_{2};
};

TEST_F(StillnessTest, IsATurnThatComesLateWhileNoThreadRuns) {
  turn(0_s, 0_s);
  turn(8.1_s, 0.05_s);
  EXPECT_DOUBLE_EQ(total(8.1_s, 0.05_s).value(), 8);
}

TEST_F(StillnessTest, IsKnownBeforeTheLateTurnComes) {
  turn(0_s, 0_s);
  EXPECT_DOUBLE_EQ(total(8.1_s, 0.05_s).value(), 8);
  turn(8.1_s, 0.05_s);
  EXPECT_DOUBLE_EQ(total(8.15_s, 0.05_s).value(), 8) << "and is not counted twice";
}

TEST_F(StillnessTest, IsNotABusyMachineOnWhichOtherThreadsRun) {
  turn(0_s, 0_s);
  turn(2.1_s, 1_s);
  EXPECT_EQ(total(2.1_s, 1_s), 0_s);
}

TEST_F(StillnessTest, IsNotATurnThatComesALittleLate) {
  turn(0_s, 0_s);
  turn(1_s, 0_s);
  EXPECT_EQ(total(1_s, 0_s), 0_s);
}

TEST_F(StillnessTest, AllowsForWorkUntilTheTurnWasDue) {
  turn(0_s, 0_s);
  turn(1.5_s, 0.2_s);  // two processors for a tenth of a second
  EXPECT_GT(total(1.5_s, 0.2_s), 0_s);
}

TEST_F(StillnessTest, IsNotATimeInWhichNoTurnIsDue) {
  turn(0_s, 0_s);
  stillness_.rest();
  EXPECT_EQ(total(100_s, 0_s), 0_s);
  turn(100_s, 0_s);
  EXPECT_EQ(total(100_s, 0_s), 0_s);
}

TEST_F(StillnessTest, AddsUp) {
  turn(0_s, 0_s);
  turn(2.1_s, 0_s);
  turn(5.2_s, 0_s);
  EXPECT_NEAR(total(5.2_s, 0_s).value(), 5, 1e-9);
}

}  // namespace

}  // namespace zeus::measure
