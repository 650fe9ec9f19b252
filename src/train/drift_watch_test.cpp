#include "train/drift_watch.hpp"

#include <gtest/gtest.h>

namespace zeus::train {
namespace {

void add(DriftWatch& watch, int steps, Seconds each) {
  for (int i = 0; i < steps; ++i) {
    watch.add(1, each);
  }
}

TEST(DriftWatch, NoticesWhatLasts) {
  DriftWatch watch{0.15};
  watch.expect(0.2_s);
  add(watch, 100, 0.21_s);
  EXPECT_FALSE(watch.drift());
  add(watch, 20, 0.3_s);
  EXPECT_FALSE(watch.drift()) << "one slow block is no drift";
  add(watch, 20, 0.2_s);
  add(watch, 80, 0.3_s);
  ASSERT_TRUE(watch.drift());
  EXPECT_NEAR(*watch.drift(), 1.5, 0.01);
}

TEST(DriftWatch, NoticesFasterStepsToo) {
  DriftWatch watch{0.15};
  watch.expect(0.2_s);
  add(watch, 100, 0.15_s);
  EXPECT_TRUE(watch.drift());
}

TEST(DriftWatch, NoticesOnlyWhatTheProfileExcludes) {
  DriftWatch watch{0.15};
  watch.expect(0.2_s, 0.04_s);
  add(watch, 100, 0.26_s);
  add(watch, 100, 0.15_s);
  EXPECT_FALSE(watch.drift());
  add(watch, 60, 0.29_s);
  EXPECT_TRUE(watch.drift());
  watch.expect(0.2_s, 0.04_s);
  add(watch, 60, 0.13_s);
  EXPECT_TRUE(watch.drift());
}

TEST(DriftWatch, ForgetsWithANewExpectation) {
  DriftWatch watch{0.15};
  watch.expect(0.2_s);
  add(watch, 100, 0.4_s);
  watch.expect(0.4_s);
  EXPECT_FALSE(watch.drift());
  watch.expect(std::nullopt);
  add(watch, 100, 4_s);
  EXPECT_FALSE(watch.drift());
}

TEST(DriftWatch, NeverNoticesAnythingWithoutATolerance) {
  DriftWatch watch{0};
  watch.expect(0.2_s);
  add(watch, 1000, 9_s);
  EXPECT_FALSE(watch.drift());
}

}  // namespace
}  // namespace zeus::train
