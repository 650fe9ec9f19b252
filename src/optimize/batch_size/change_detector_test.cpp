#include "optimize/batch_size/change_detector.hpp"

#include "base/state_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace zeus::optimize {
namespace {

// A change moves the mean with a variance of 3, so runs of variance 1 have a variance of 4 after it.
ChangeDetector with_round_figures(double alarm = 4.0) {
  return ChangeDetector{{.distance = std::sqrt(3.0), .odd = 0.1, .alarm = alarm}};
}

// What one run adds, computed from the two densities: the odds of a change, if one run in ten is an outlier without
// one.
double added(double distance) {
  const double usual = std::exp(-0.5 * distance * distance);
  const double moved = 0.5 * std::exp(-0.5 * distance * distance / 4.0);
  return std::log(moved / (0.9 * usual + 0.1 * moved));
}

TEST(ChangeDetector, AddsLogarithmsOfOddsUntilTheAlarm) {
  ASSERT_GT(added(2.0), 0.0);
  const double sum = added(2.0) + added(1.9);
  for (const double share : {0.999, 1.001}) {
    ChangeDetector detector = with_round_figures(share * sum);
    EXPECT_FALSE(detector.observe(2.0, 1.0));
    EXPECT_EQ(detector.observe(1.9, 1.0), share < 1.0);
  }
}

TEST(ChangeDetector, RunsAboveAndBelowTheExpectedValueAddUp) {
  ChangeDetector detector = with_round_figures(added(2.5) + 0.999 * added(2.4));
  EXPECT_FALSE(detector.observe(-2.5, 1.0));
  EXPECT_TRUE(detector.observe(2.4, 1.0));
}

TEST(ChangeDetector, AnOutlierAddsNoMoreThanItsOwnProbabilityAllows) {
  ChangeDetector detector = with_round_figures(1.001 * std::log(10.0));
  EXPECT_FALSE(detector.observe(1000.0, 1.0));
  EXPECT_TRUE(detector.observe(1000.0, 1.0));
}

TEST(ChangeDetector, MeasuresDistancesInStandardDeviations) {
  ChangeDetector wide{{.distance = 2.0 * std::sqrt(3.0), .odd = 0.1, .alarm = 0.999 * added(2.0)}};
  EXPECT_FALSE(wide.observe(2.0, 4.0));
  EXPECT_TRUE(wide.observe(4.0, 4.0));
}

TEST(ChangeDetector, UsualRunsLowerTheSumThatOutliersRaised) {
  ASSERT_LT(added(0.0), 0.0);
  ChangeDetector detector = with_round_figures(added(3.0) + 0.999 * added(2.0));
  EXPECT_TRUE(detector.calm());
  EXPECT_FALSE(detector.observe(0.0, 1.0));
  EXPECT_TRUE(detector.calm()) << "the sum is not below 0";
  EXPECT_FALSE(detector.observe(3.0, 1.0));
  EXPECT_FALSE(detector.calm());
  EXPECT_FALSE(detector.observe(0.0, 1.0));
  EXPECT_FALSE(detector.observe(2.0, 1.0));
}

TEST(ChangeDetector, StartsAgainAfterAnAlarm) {
  ChangeDetector detector = with_round_figures(0.999 * added(2.0));
  EXPECT_TRUE(detector.observe(2.0, 1.0));
  EXPECT_TRUE(detector.calm());
  EXPECT_FALSE(detector.observe(1.9, 1.0));
}

TEST(ChangeDetector, RunsAreAsLikelyAsTheyAreUsualOrOdd) {
  const ChangeDetector detector = with_round_figures();
  const double density = 0.9 * std::exp(-2.0) + 0.1 * std::exp(-0.5) / 2.0;
  EXPECT_NEAR(detector.log_density(-2.0, 1.0), std::log(density), 1e-9);
  EXPECT_TRUE(std::isfinite(detector.log_density(1e6, 1.0)));
}

TEST(ChangeDetector, StoresOnlyTheSum) {
  ChangeDetector one = with_round_figures(added(2.0) + 0.999 * added(2.0));
  static_cast<void>(one.observe(2.0, 1.0));
  StateWriter writer;
  writer(one);
  const std::string text = writer.take();
  ChangeDetector other = with_round_figures(added(2.0) + 0.999 * added(2.0));
  StateReader reader{text};
  reader(other);
  EXPECT_TRUE(other.observe(2.0, 1.0));
}

}  // namespace
}  // namespace zeus::optimize
