#include "measure/doubt.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus::measure {
namespace {

constexpr JoulesSquared uniform_variance{1.0 / 12.0};

TEST(Doubt, ANormalErrorHasTheUsualInterval) {
  EXPECT_NEAR(Doubt::of(JoulesSquared{4.0}, normal_excess).half_width_95().value(), 2 * 1.96, 1e-9);
}

TEST(Doubt, AUniformErrorHasANarrowerOne) {
  EXPECT_NEAR(Doubt::of(uniform_variance, uniform_excess).half_width_95().value(), 0.475, 1e-3);
}

TEST(Doubt, TwoUniformErrorsMakeATriangle) {
  const Doubt one = Doubt::of(uniform_variance, uniform_excess);
  EXPECT_NEAR((one + one).half_width_95().value(), 1.0 - std::sqrt(0.05), 0.01);
}

TEST(Doubt, ManyUniformErrorsMakeANormalOne) {
  Doubt sum;
  for (int i = 0; i < 1200; ++i) {
    sum += Doubt::of(uniform_variance, uniform_excess);
  }
  EXPECT_NEAR(sum.half_width_95().value(), 19.6, 0.01);
}

TEST(Doubt, ARareErrorHasAWiderIntervalThanANormalOne) {
  // Nothing in four of five cases, uniform from -1 to 1 in the fifth: beyond 3/4 in one of twenty.
  const double variance = 0.2 / 3.0;
  const double kurtosis = 0.2 / 5.0 / (variance * variance);
  EXPECT_NEAR(Doubt::of(JoulesSquared{variance}, kurtosis - 3.0).half_width_95().value(), 0.75, 0.02);
}

// Nothing in 29 of 30 cases, uniform from -1 to 1 in the other one.
Doubt seldom() {
  constexpr double share = 1.0 / 30.0;
  return Doubt::of(JoulesSquared{share / 3.0}, 1.8 / share - 3.0);
}

TEST(Doubt, IgnoresAnErrorInFewerThanOneOfTwentyCases) {
  EXPECT_LT(half_width_95({}, seldom()).value(), 0.02);
}

TEST(Doubt, ARareErrorStillWidensTheIntervalOfTheCommonOne) {
  const Doubt always = Doubt::of(JoulesSquared{1e-4}, normal_excess);
  const Joules half_width = half_width_95(always, seldom());
  // 95 of 100 in all are 98.3 of 100 of those without the seldom one.
  EXPECT_NEAR(half_width.value(), 2.38e-2, 5e-4);
}

TEST(Doubt, AFrequentErrorAddsToTheOthers) {
  const Doubt common = Doubt::of(JoulesSquared{4.0}, normal_excess);
  EXPECT_EQ(half_width_95(common, common), (common + common).half_width_95());
  EXPECT_EQ(half_width_95(common, {}), common.half_width_95());
}

TEST(Doubt, NoneIsNone) {
  EXPECT_EQ(Doubt{}.half_width_95(), Joules{0});
}

}  // namespace
}  // namespace zeus::measure
