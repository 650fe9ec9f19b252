#include "optimize/pipeline/profile_fit.hpp"

#include "base/random.hpp"
#include "optimize/pipeline/trade_off.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus::optimize::pipeline {
namespace {

using records::ComputationGraph;
using records::ComputationProfile;
using records::FrequencyOption;

FrequencyOption truth(double clock) {
  const double time = 0.02 + 0.06 / clock;
  return {Megahertz{1410 * clock}, Seconds{time}, Joules{time * (80 + 250 * clock * clock)}};
}

ComputationProfile measured(double noise, std::uint64_t seed, int clocks = 15) {
  Random random{seed};
  ComputationProfile profile{.name = "forward", .options = {}};
  for (int i = 0; i < clocks; ++i) {
    FrequencyOption option = truth(1.0 - 0.04 * i);
    option.time = option.time * random.normal(1.0, noise);
    option.energy = option.energy * random.normal(1.0, noise);
    profile.options.push_back(option);
  }
  return profile;
}

ComputationProfile fitted(const ComputationProfile& profile, ProfileFit fit, Watts blocking_power = 70_W) {
  ComputationGraph graph;
  graph.profiles = {profile};
  return with_fit(graph, fit, blocking_power).profiles.front();
}

double worst_error(const ComputationProfile& profile) {
  double worst = 0.0;
  for (std::size_t i = 0; i < profile.options.size(); ++i) {
    const FrequencyOption exact = truth(1.0 - 0.04 * static_cast<double>(i));
    worst = std::max(worst, std::abs(profile.options[i].time / exact.time - 1.0));
    worst = std::max(worst, std::abs(profile.options[i].energy / exact.energy - 1.0));
  }
  return worst;
}

TEST(ProfileFit, WithoutAFitAProfileStaysAsMeasured) {
  const ComputationProfile profile = measured(0.02, 1);
  EXPECT_EQ(fitted(profile, ProfileFit::none), profile);
}

TEST(ProfileFit, SmoothCurvesGoThroughExactMeasurements) {
  EXPECT_LE(worst_error(fitted(measured(0.0, 1), ProfileFit::smooth)), 1e-9);
}

TEST(ProfileFit, SmoothCurvesHalveTheWorstErrorFromNoise) {
  double before = 0.0;
  double after = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ComputationProfile profile = measured(0.02, seed);
    before += worst_error(profile);
    after += worst_error(fitted(profile, ProfileFit::smooth));
  }
  EXPECT_LE(after, before / 2);
}

TEST(ProfileFit, RepeatedMeasurementsBecomeOnePoint) {
  ComputationProfile twice = measured(0.0, 1);
  twice.options.insert(twice.options.end(), twice.options.begin(), twice.options.end());
  const ComputationProfile once = fitted(twice, ProfileFit::smooth);
  EXPECT_EQ(once.options.size(), 15U);
  EXPECT_LE(worst_error(once), 1e-9);
}

TEST(ProfileFit, AProfileThatNoCurveFitsStaysAsMeasured) {
  const ComputationProfile few = measured(0.02, 1, 4);
  EXPECT_EQ(fitted(few, ProfileFit::smooth), few);
  ComputationProfile odd = measured(0.0, 1);
  odd.options[3].time = Seconds{0};
  EXPECT_EQ(fitted(odd, ProfileFit::smooth), odd);
  ComputationProfile backwards = measured(0.0, 1);
  for (FrequencyOption& option : backwards.options) {
    option.time = Seconds{1} / option.time.value();
  }
  EXPECT_EQ(fitted(backwards, ProfileFit::smooth), backwards);
}

TEST(ProfileFit, AnExponentialFitGoesThroughExponentialPoints) {
  ComputationProfile profile{.name = "forward", .options = {}};
  const auto cost = [](double time) { return 5.0 * std::exp(-20.0 * time) + 1.0; };
  for (int i = 0; i < 12; ++i) {
    const double time = 0.05 + 0.01 * i;
    profile.options.push_back({Megahertz{1400.0 - 50 * i}, Seconds{time}, Joules{cost(time) + 70 * time}});
  }
  const ComputationProfile curve = fitted(profile, ProfileFit::exponential);
  ASSERT_EQ(curve.options.size(), profile.options.size());
  for (std::size_t i = 0; i < curve.options.size(); ++i) {
    EXPECT_EQ(curve.options[i].time, profile.options[i].time);
    EXPECT_NEAR(curve.options[i].energy / profile.options[i].energy, 1.0, 0.001);
  }
}

TEST(ProfileFit, AnExponentialFitOfAStraightLineIsNearlyStraight) {
  ComputationProfile line{.name = "forward", .options = {}};
  for (int i = 0; i <= 10; ++i) {
    line.options.push_back({Megahertz{1400.0 - 50 * i}, Seconds{1.0 + 0.1 * i}, Joules{2.0 - 0.1 * i}});
  }
  const ComputationProfile curve = fitted(line, ProfileFit::exponential, 0_W);
  ASSERT_EQ(curve.options.size(), line.options.size());
  for (std::size_t i = 0; i < line.options.size(); ++i) {
    // exp(-0.05 x), which falls by one joule, bends by no more than 0.05 / 8 of that.
    EXPECT_NEAR(curve.options[i].energy.value(), line.options[i].energy.value(), 0.05 / 8);
  }
}

TEST(ProfileFit, AnExponentialFitMovesAnOutlier) {
  ComputationProfile off{.name = "forward", .options = {}};
  for (int i = 0; i <= 10; ++i) {
    const double time = 1.0 + 0.1 * i;
    off.options.push_back({Megahertz{1400.0 - 50 * i}, Seconds{time}, Joules{5.0 * std::exp(-2.0 * time) + 1.0}});
  }
  const Joules exact = off.options[5].energy;
  off.options[5].energy = exact * 1.02;
  const ComputationProfile curve = fitted(off, ProfileFit::exponential, 0_W);
  ASSERT_EQ(curve.options.size(), off.options.size());
  EXPECT_NEAR(curve.options[5].energy / exact, 1.0, 0.01);
  off.options.resize(4);
  EXPECT_EQ(fitted(off, ProfileFit::exponential, 0_W), off) << "four points are too few for a fit";
}

// Nine clocks from 1 down to 0.5, of which the power limit allows none above `highest`.
ComputationProfile capped(double highest) {
  ComputationProfile profile{.name = "forward", .options = {}};
  for (int i = 0; i <= 8; ++i) {
    const double clock = 1.0 - i / 16.0;
    const double had = std::min(clock, highest);
    profile.options.push_back({Megahertz{1600 * clock}, Seconds{1.0 + 1.0 / had}, Joules{100 + 50 * had}});
  }
  return profile;
}

TEST(ProfileFit, ClocksAboveThePowerLimitAreAllAlike) {
  const ComputationProfile profile = capped(0.875);
  const ComputationProfile curve = fitted(profile, ProfileFit::smooth);
  for (std::size_t i = 0; i < profile.options.size(); ++i) {
    EXPECT_NEAR(curve.options[i].time / profile.options[i].time, 1.0, 1e-9) << i;
    EXPECT_NEAR(curve.options[i].energy / profile.options[i].energy, 1.0, 1e-9) << i;
  }
  EXPECT_EQ(curve.options[0].time, curve.options[2].time);
}

// Clocks may be alike from the fifth-lowest on; four different ones are too few for a fit.
TEST(ProfileFit, IgnoresASaturationThatLeavesFourClocks) {
  ComputationProfile profile = capped(1.0 - 5 / 16.0);
  profile.options[7].time = profile.options[7].time * 1.001;
  EXPECT_EQ(fitted(profile, ProfileFit::smooth), profile);
}

// Clocks at equal steps of 1 / clock. The scatter is a wave that no parabola follows, plus a small one that it does
// follow.
TEST(ProfileFit, ScatterDoesNotBendTheCurve) {
  ComputationProfile profile{.name = "forward", .options = {}};
  const double wave[] = {-1, 2, 0, -2, 1};
  const double parabola[] = {2, -1, -2, -1, 2};
  for (int i = 0; i < 5; ++i) {
    const double clock = 1.0 / (1.0 + 0.25 * i);
    const double time = 1.0 + 0.02 * i + 0.005 * wave[i] + 0.001 * parabola[i];
    profile.options.push_back({Megahertz{1400 * clock}, Seconds{time}, Joules{100 + 50 * clock}});
  }
  const ComputationProfile curve = fitted(profile, ProfileFit::smooth);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(curve.options[static_cast<std::size_t>(i)].time.value(), 1.0 + 0.02 * i, 0.001) << i;
  }
}

TEST(ProfileFit, FiveClocksAreEnoughForABentCurve) {
  ComputationProfile profile{.name = "forward", .options = {}};
  for (int i = 0; i < 5; ++i) {
    const double clock = 1.0 - 0.1 * i;
    profile.options.push_back(
        {Megahertz{1400 * clock}, Seconds{1.0 + 0.5 / (clock * clock)}, Joules{100 + 50 * clock}});
  }
  const ComputationProfile curve = fitted(profile, ProfileFit::smooth);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(curve.options[i].time.value(), profile.options[i].time.value(), 1e-9) << i;
  }
}

TEST(ProfileFit, SmoothsSmallComputationsLikeLargeOnes) {
  const ComputationProfile large = measured(0.02, 1);
  ComputationProfile small = large;
  for (FrequencyOption& option : small.options) {
    option.time = option.time * 0.001;
    option.energy = option.energy * 0.001;
  }
  const ComputationProfile expected = fitted(large, ProfileFit::smooth);
  const ComputationProfile curve = fitted(small, ProfileFit::smooth);
  for (std::size_t i = 0; i < curve.options.size(); ++i) {
    EXPECT_NEAR(curve.options[i].energy / expected.options[i].energy, 0.001, 1e-9);
  }
}

TEST(ProfileFit, AProfileWithAnEnergyBelowZeroStaysAsMeasured) {
  ComputationProfile odd = measured(0.02, 1);
  odd.options[7].energy = Joules{-1e9};
  EXPECT_EQ(fitted(odd, ProfileFit::smooth), odd);
}

TEST(ProfileFit, ValuesTooSmallForArithmeticStayAsMeasured) {
  ComputationProfile tiny = measured(0.02, 1);
  for (FrequencyOption& option : tiny.options) {
    option.energy = option.energy * 1e-200;
  }
  EXPECT_EQ(fitted(tiny, ProfileFit::smooth), tiny);
}

TEST(ProfileFit, HasTheNamesOfTheCommandLine) {
  for (const ProfileFit fit : all_profile_fits()) {
    EXPECT_EQ(profile_fit_from(to_string(fit)), fit);
  }
  EXPECT_EQ(profile_fit_from("cubic"), std::nullopt);
}

}  // namespace
}  // namespace zeus::optimize::pipeline
