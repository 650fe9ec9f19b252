#include "optimize/power_limit/setting_range.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zeus::optimize {
namespace {

std::vector<double> limits_of(const SettingRange& range) {
  std::vector<double> limits;
  for (const Watts limit : range.limits()) {
    limits.push_back(limit.value());
  }
  return limits;
}

TEST(SettingRange, StepsDownFromTheHighestLimit) {
  EXPECT_EQ(limits_of(SettingRange::of_steps(100_W, 250_W, 25_W)),
            (std::vector<double>{250, 225, 200, 175, 150, 125, 100}));
}

TEST(SettingRange, HoldsTheLowestLimitOnlyIfItFallsOnTheGrid) {
  EXPECT_EQ(limits_of(SettingRange::of_steps(100_W, 260_W, 40_W)), (std::vector<double>{260, 220, 180, 140, 100}));
  EXPECT_EQ(limits_of(SettingRange::of_steps(110_W, 260_W, 40_W)), (std::vector<double>{260, 220, 180, 140}));
}

TEST(SettingRange, MayBeASingleLimit) {
  EXPECT_EQ(limits_of(SettingRange::of_steps(250_W, 250_W, 25_W)), (std::vector<double>{250}));
}

TEST(SettingRange, SortsItsSettingsAndHoldsNoOthers) {
  const SettingRange range{{100_W, 300_W, 200_W}, {900_MHz, 1200_MHz}};
  EXPECT_EQ(limits_of(range), (std::vector<double>{300, 200, 100}));
  EXPECT_EQ(range.clocks().front(), 1200_MHz);
  EXPECT_TRUE(range.holds({.limit = 200_W, .clock = std::nullopt}));
  EXPECT_TRUE(range.holds({.limit = 300_W, .clock = 900_MHz}));
  EXPECT_FALSE(range.holds({.limit = 250_W, .clock = std::nullopt}));
  EXPECT_FALSE(range.holds({.limit = 300_W, .clock = 1000_MHz}));
}

TEST(SettingRange, RefusesSettingsThatNoDeviceHas) {
  const double nan = std::nan("");
  EXPECT_THROW(SettingRange{{}}, Error);
  EXPECT_THROW(SettingRange{{0_W}}, Error);
  EXPECT_THROW(SettingRange{{Watts{-100}}}, Error);
  EXPECT_THROW(SettingRange{{Watts{nan}}}, Error);
  EXPECT_THROW((SettingRange{{100_W, 100_W}}), Error);
  EXPECT_THROW((SettingRange{{100_W}, {0_MHz}}), Error);
  EXPECT_THROW(SettingRange::of_steps(100_W, 250_W, 0_W), Error);
  EXPECT_THROW(SettingRange::of_steps(250_W, 250_W, 0_W), Error);
  EXPECT_THROW(SettingRange::of_steps(100_W, 250_W, Watts{nan}), Error);
  EXPECT_THROW(SettingRange::of_steps(250_W, 100_W, 25_W), Error);
  EXPECT_THROW(SettingRange::of_steps(1_W, 1e9_W, 1_W), Error);
  EXPECT_THROW(SettingRange::of_steps(1_W, 1001_W, 1_W), Error);
  EXPECT_EQ(limits_of(SettingRange::of_steps(1_W, 1000_W, 1_W)).size(), 1000U);
}

}  // namespace
}  // namespace zeus::optimize
