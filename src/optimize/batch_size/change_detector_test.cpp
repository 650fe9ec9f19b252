#include "optimize/batch_size/change_detector.hpp"

#include "base/state_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zeus::optimize {
namespace {

// Page's sums with these figures: above += surprise - 1, at least 0; an alarm at 8.
ChangeDetector with_round_figures() {
  return ChangeDetector{{.most_surprise = 5.0, .allowance = 1.0, .alarm = 8.0}};
}

TEST(ChangeDetector, AddsWhatExceedsTheAllowanceUntilTheAlarm) {
  ChangeDetector detector = with_round_figures();
  EXPECT_FALSE(detector.observe(4.0));    // 3
  EXPECT_FALSE(detector.observe(3.0));    // 5
  EXPECT_FALSE(detector.observe(3.875));  // 7.875
  EXPECT_TRUE(detector.observe(1.125));   // 8, the alarm itself
}

TEST(ChangeDetector, SeesLessAsItSeesMore) {
  ChangeDetector detector = with_round_figures();
  EXPECT_FALSE(detector.observe(-4.0));
  EXPECT_FALSE(detector.observe(-3.0));
  EXPECT_FALSE(detector.observe(-3.875));
  EXPECT_TRUE(detector.observe(-1.125));
}

TEST(ChangeDetector, ASingleOddRunCountsAsTheMostSurprise) {
  ChangeDetector above = with_round_figures();
  EXPECT_FALSE(above.observe(1000.0));  // 4
  EXPECT_FALSE(above.observe(4.5));     // 7.5
  ChangeDetector below = with_round_figures();
  EXPECT_FALSE(below.observe(-1000.0));
  EXPECT_FALSE(below.observe(-4.5));
  EXPECT_TRUE(below.observe(-1.5));
}

TEST(ChangeDetector, ForgetsWhatTheOtherDirectionTakesBack) {
  ChangeDetector detector = with_round_figures();
  EXPECT_FALSE(detector.observe(5.0));   // 4
  EXPECT_FALSE(detector.observe(-2.0));  // above 1, below 1
  EXPECT_FALSE(detector.observe(-3.0));  // above 0, not -3; below 3
  EXPECT_FALSE(detector.observe(5.0));   // above 4, below 0
  EXPECT_FALSE(detector.observe(4.5));   // 7.5
  EXPECT_TRUE(detector.observe(1.5));    // 8
}

TEST(ChangeDetector, StartsAgainAfterAnAlarmInBothDirections) {
  ChangeDetector detector = with_round_figures();
  EXPECT_FALSE(detector.observe(5.0));
  EXPECT_TRUE(detector.observe(5.0));
  EXPECT_FALSE(detector.observe(5.0));
  EXPECT_TRUE(detector.observe(5.0));
  EXPECT_FALSE(detector.observe(-5.0));
  EXPECT_TRUE(detector.observe(-5.0));
  EXPECT_FALSE(detector.observe(-5.0)) << "the sum below started again too";
}

TEST(ChangeDetector, ItsStateIsBothSums) {
  ChangeDetector one = with_round_figures();
  static_cast<void>(one.observe(-5.0));  // below 4
  static_cast<void>(one.observe(1.5));   // above 0.5, below 1.5
  StateWriter writer;
  writer(one);
  const std::string text = writer.take();
  ChangeDetector up = with_round_figures();
  StateReader reader{text};
  reader(up);
  ChangeDetector down = up;
  EXPECT_FALSE(up.observe(5.0));     // 4.5
  EXPECT_TRUE(up.observe(4.5));      // 8
  EXPECT_FALSE(down.observe(-5.0));  // 5.5
  EXPECT_TRUE(down.observe(-3.5));   // 8
}

}  // namespace
}  // namespace zeus::optimize
