#include "serving/tuning.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace zeus::serving {
namespace {

const SettingLimits a100{.lowest = Watts{100},
                         .highest = Watts{400},
                         .clocks = {Megahertz{1410}, Megahertz{1200}, Megahertz{1000}, Megahertz{800}}};

BenchResult result_of(double joules, double watts = 300, double uncertainty = 0.01) {
  BenchResult result;
  Energy energy;
  energy.value = Joules{joules};
  energy.set_uncertainty(Joules{joules * uncertainty}, Joules{0});
  result.steady.energy_per_output_token = energy;
  result.steady.power = Figure{watts, 1};
  return result;
}

// The same time at each bound, with 5 % more at the upper end of its interval.
std::vector<BoundedTime> times_at(std::string_view bounds, double seconds) {
  std::vector<BoundedTime> times;
  for (const LatencyBound& bound : read_bounds(bounds)) {
    times.push_back(
        {.bound = bound,
         .found = TimePercentile{.value = Seconds{seconds}, .low = Seconds{seconds}, .high = Seconds{seconds * 1.05}}});
  }
  return times;
}

Verdict verdict_at(std::string_view bounds, double seconds) {
  return verdict_on(result_of(1), times_at(bounds, seconds));
}

TEST(LatencyBounds, AreKeptIfTheUpperEndOfTheIntervalIsWithin) {
  EXPECT_EQ(verdict_at("itl=42.1ms@99", 0.04).why_not, "");
  EXPECT_EQ(verdict_at("itl=41ms@99", 0.04).why_not, "itl at 99 % may be 42 ms");
  EXPECT_TRUE(verdict_at("itl=41ms@99", 0.04).is_unclear);
  EXPECT_FALSE(verdict_at("itl=39ms@99", 0.04).is_unclear);
  EXPECT_FALSE(verdict_at("itl=41ms@99,itl=30ms@50", 0.04).is_unclear);
  std::vector<BoundedTime> times = times_at("itl=39ms@99", 0.04);
  times.front().found->low = Seconds{0.038};
  EXPECT_TRUE(verdict_on(result_of(1), times).is_unclear);
  times = times_at("itl=1s@99", 0.04);
  times.front().found->high.reset();
  EXPECT_EQ(verdict_on(result_of(1), times).why_not, "too few answers to know itl at 99 %");
  EXPECT_TRUE(verdict_on(result_of(1), times).is_unclear);
  times.front().found.reset();
  EXPECT_EQ(verdict_on(result_of(1), times).why_not, "itl is unknown");
}

TEST(LatencyBounds, OfAFailedRequestAreNotKept) {
  const BenchResult result = result_of(1);
  std::vector<BoundedTime> times = times_at("ttft=50ms@95", 0.04);
  times.front().sent = 200;
  times.front().failed = 9;
  times.front().found->high = never;
  EXPECT_EQ(verdict_on(result, times).why_not, "9 of 200 requests failed, ttft at 95 % may be that of one of them");
  EXPECT_TRUE(verdict_on(result, times).is_unclear);
  times.front().found->low = times.front().found->value = never;
  EXPECT_FALSE(verdict_on(result, times).is_unclear);
}

TEST(SettingsBelow, AreLimitsThatBind) {
  const auto settings = settings_below(a100, Watts{300}, 4);
  ASSERT_EQ(settings.size(), 4U);
  EXPECT_EQ(settings.front().limit, Watts{250});
  EXPECT_EQ(settings.back().limit, Watts{100});
  EXPECT_FALSE(settings.back().clock);
}

TEST(SettingsBelow, AreWholeWattsDownToTheLowestItself) {
  SettingLimits odd = a100;
  odd.lowest = Watts{100.3};
  const auto settings = settings_below(odd, Watts{278.24}, 7);
  ASSERT_EQ(settings.size(), 7U);
  EXPECT_EQ(settings.front().limit, Watts{253});
  EXPECT_EQ(settings.back().limit, Watts{100.3});
  // More steps than watts: each limit once.
  EXPECT_EQ(settings_below(a100, Watts{116}, 100).size(), 16U);
}

TEST(SettingsBelow, AreClocksIfHardlyAnyLimitBinds) {
  const auto settings = settings_below(a100, Watts{105}, 8);
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings.front().clock, Megahertz{1200});
  EXPECT_EQ(settings.back().clock, Megahertz{800});
  EXPECT_EQ(settings.back().limit, Watts{400});
}

void add(Tuning& tuning, std::string_view bounds, double joules, double between, double watts = 300) {
  tuning.add(result_of(joules, watts), times_at(bounds, between), 1);
}

TEST(Tuning, EndsAfterTwoSettingsThatAreNotWithinTheBoundsAndLooksBetween) {
  Tuning tuning{a100, 5};
  std::vector<Watts> tried;
  while (const auto step = tuning.next()) {
    tried.push_back(step->setting.limit);
    // A token takes longer the lower the limit is: 50 ms at 184 W.
    add(tuning, "itl=50ms", step->setting.limit.value() / 400, 0.05 + (184 - step->setting.limit.value()) * 1e-3);
  }
  EXPECT_EQ(tried,
            (std::vector<Watts>{Watts{400}, Watts{260}, Watts{220}, Watts{180}, Watts{140}, Watts{200}, Watts{190}}));
  EXPECT_EQ(tuning.tried()[*tuning.best()].setting.limit, Watts{190});
}

TEST(Tuning, LooksBelowWhatIsDrawnIfOnlyTheHighestLimitIsWithinTheBounds) {
  Tuning tuning{a100, 5};
  std::vector<Watts> tried;
  while (const auto step = tuning.next()) {
    tried.push_back(step->setting.limit);
    add(tuning, "itl=50ms", step->setting.limit.value() / 400, 0.05 + (272 - step->setting.limit.value()) * 1e-3);
  }
  // Of 300 W that are drawn.
  EXPECT_EQ(tried, (std::vector<Watts>{Watts{400}, Watts{260}, Watts{220}, Watts{280}, Watts{270}}));
}

TEST(Tuning, LooksHalfwayBetweenTwoClocks) {
  SettingLimits clocks = a100;
  clocks.clocks.clear();
  for (int megahertz = 1400; megahertz >= 200; megahertz -= 100) {
    clocks.clocks.emplace_back(megahertz);
  }
  Tuning tuning{clocks, 2};
  std::vector<double> tried;
  while (const auto step = tuning.next()) {
    tried.push_back(step->setting.clock.value_or(Megahertz{0}).value());
    // A token takes longer the lower the clock is: 50 ms at 950 MHz.
    const double megahertz = step->setting.clock ? tried.back() : 1400;
    add(tuning, "itl=50ms", megahertz / 1000, 0.05 + (950 - megahertz) * 1e-4, 105);
  }
  EXPECT_EQ(tried, (std::vector<double>{0, 800, 200, 1100, 900}));
  EXPECT_EQ(tuning.tried()[*tuning.best()].setting.clock, Megahertz{1100});
}

// The best of settings that take this much, known this well.
Watts best_of(const std::vector<double>& joules, double uncertainty) {
  Tuning tuning{a100, joules.size() - 1};
  for (const double each : joules) {
    tuning.add(result_of(each, 300, uncertainty), times_at("itl=50ms", 0.03), 1);
  }
  return tuning.tried()[tuning.best().value()].setting.limit;
}

TEST(Tuning, TakesTheLeastByTheSettingsBesideItWhereIntervalsOverlap) {
  // 220 W took a little less than 180 W by chance: those beside them say that energy falls down to 140 W.
  const std::vector<double> falling{1.0, 0.9, 0.74, 0.75, 0.76, 0.78};
  EXPECT_EQ(best_of(falling, 0.001), Watts{220});
  EXPECT_EQ(best_of(falling, 0.1), Watts{180});
  // A true least between two others stays the least.
  EXPECT_EQ(best_of({1.0, 0.9, 0.8, 0.7, 0.8, 0.9}, 0.1), Watts{180});
}

TEST(Tuning, GoesOnAfterOneThatIsNotWithin) {
  Tuning tuning{a100, 4};
  for (const double between : {0.03, 0.06, 0.03}) {
    ASSERT_TRUE(tuning.next());
    add(tuning, "itl=50ms", 0.5, between);
  }
  EXPECT_TRUE(tuning.next());
}

TEST(Tuning, MeasuresWhatIsUnclearAgainWithMoreRequests) {
  Tuning tuning{a100, 4};
  add(tuning, "itl=50ms", 1.0, 0.03);
  std::vector<std::uint64_t> efforts;
  while (tuning.tried().size() < 2 || tuning.next()->effort > 1) {
    efforts.push_back(tuning.next()->effort);
    add(tuning, "itl=50ms", 0.9, 0.049);
  }
  EXPECT_EQ(efforts, (std::vector<std::uint64_t>{1, 2, 4, 8}));
  EXPECT_EQ(tuning.tried().size(), 2U);
  EXPECT_EQ(tuning.best(), 0U);
}

TEST(Tuning, MeasuresWhatNeverBecameSteadyAgainWithMoreRequests) {
  Tuning tuning{a100, 4};
  add(tuning, "itl=50ms", 1.0, 0.03);
  BenchResult unsteady;
  unsteady.steady.why_not_steady = unsteady.steady.why_no_energy_per_token = "the run is too short";
  std::vector<std::uint64_t> efforts;
  while (tuning.tried().size() < 2 || tuning.next()->effort > 1) {
    efforts.push_back(tuning.next()->effort);
    tuning.add(unsteady, {}, 1);
  }
  EXPECT_EQ(efforts, (std::vector<std::uint64_t>{1, 2, 4}));
  EXPECT_EQ(tuning.tried().back().verdict.why_not, "the run is too short");
}

TEST(Tuning, GoesDownOnceTheHighestLimitHasBecomeSteady) {
  Tuning tuning{a100, 4};
  BenchResult unsteady;
  unsteady.steady.why_not_steady = unsteady.steady.why_no_energy_per_token = "the run is too short";
  tuning.add(unsteady, {}, 1);
  add(tuning, "itl=50ms", 1.0, 0.03);
  ASSERT_TRUE(tuning.next());
  EXPECT_EQ(tuning.next()->setting.limit, Watts{250});
  EXPECT_EQ(tuning.tried().size(), 1U);
}

TEST(Tuning, DoesNotMeasureAgainWhatHasNoCountOfTokens) {
  BenchResult result;
  result.steady.why_no_energy_per_token = "no 'usage'";
  EXPECT_FALSE(verdict_on(result, {}).is_unclear);
}

TEST(Tuning, EndsWhenJoulesPerTokenClearlyRise) {
  Tuning tuning{a100, 8};
  for (const double joules : {1.0, 0.8, 0.805, 0.83}) {
    ASSERT_TRUE(tuning.next());
    add(tuning, "itl=50ms", joules, 0.01);
  }
  EXPECT_FALSE(tuning.next());
  EXPECT_EQ(tuning.best(), 1U);
}

TEST(Tuning, HasNoBestIfNoneKeepsTheBounds) {
  Tuning tuning{a100, 8};
  while (tuning.next()) {
    add(tuning, "itl=5ms", 1.0, 0.01);
  }
  EXPECT_EQ(tuning.tried().size(), 2U);
  EXPECT_FALSE(tuning.best());
}

TEST(Tuning, OfSeveralGpusCountsWhatEachDraws) {
  Tuning tuning{a100, 4};
  tuning.add(result_of(1.0, 600), times_at("itl=50ms", 0.01), 2);
  EXPECT_EQ(tuning.next()->setting.limit, Watts{250});
}

}  // namespace
}  // namespace zeus::serving
