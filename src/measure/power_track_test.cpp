#include "measure/power_track.hpp"

#include "tests/support/at_second.hpp"

#include <gtest/gtest.h>

namespace zeus::measure {
namespace {

using test::at_second;

double energy(const PowerTrack& track, double from, double to) {
  return energy_between(*track.edge(at_second(from)), *track.edge(at_second(to))).value.value();
}

TEST(PowerTrack, OneReadingBeforeTheWindowHoldsAllThrough) {
  PowerTrack track;
  track.add({.value = 100_W, .at = at_second(0)});
  EXPECT_DOUBLE_EQ(energy(track, 5, 15), 1000.0);
}

TEST(PowerTrack, AReadingAfterTheBeginHoldsBackToIt) {
  PowerTrack track;
  track.add({.value = 100_W, .at = at_second(3)});
  EXPECT_DOUBLE_EQ(energy(track, 1, 11), 1000.0);
}

TEST(PowerTrack, AStepIsExactThoughRepeatedReadingsAreLeftOut) {
  PowerTrack track;
  track.add({.value = 100_W, .at = at_second(0)});
  track.add({.value = 300_W, .at = at_second(10)});
  EXPECT_DOUBLE_EQ(energy(track, 0, 20), 4000.0);
}

TEST(PowerTrack, ConstantPowerIsExactAndCertainWhereverReadingsFall) {
  PowerTrack track;
  for (int i = 0; i < 50; ++i) {
    track.add({.value = 70_W, .at = at_second(0.1 * i + 0.003 * (i % 7))});
  }
  for (int step = 0; step <= 10; ++step) {
    const double from = 0.05 + 0.37 * step;
    const auto between = energy_between(*track.edge(at_second(from)), *track.edge(at_second(from + 0.777)));
    EXPECT_NEAR(between.value.value(), 70 * 0.777, 1e-6);
    EXPECT_NEAR(between.half_width.value(), 0, 1e-9);
  }
}

TEST(PowerTrack, EdgesBeforeAndAfterABreakDoNotMatch) {
  PowerTrack track;
  track.add({.value = 100_W, .at = at_second(0)});
  const auto before = track.edge(at_second(1));
  track.break_off();
  EXPECT_FALSE(track.edge(at_second(1)));
  track.add({.value = 100_W, .at = at_second(2)});
  EXPECT_NE(track.edge(at_second(3))->epoch, before->epoch);
}

TEST(PowerTrack, StaysWithinItsMemory) {
  PowerTrack track;
  for (int i = 0; i < 100'000; ++i) {
    track.add({.value = 50_W, .at = at_second(0.02 * i)});
  }
  EXPECT_GE(track.readings().size(), PowerTrack::depth);
  EXPECT_LE(track.readings().size(), 2 * PowerTrack::depth);
}

}  // namespace
}  // namespace zeus::measure
