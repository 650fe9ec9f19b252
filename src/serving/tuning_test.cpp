#include "serving/tuning.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {
namespace {

const SettingLimits a100{.lowest = Watts{100},
                         .highest = Watts{400},
                         .clocks = {Megahertz{1410}, Megahertz{1200}, Megahertz{1000}, Megahertz{800}}};

BenchResult result_of(double joules, double between, double watts = 300) {
  BenchResult result;
  Energy energy;
  energy.value = Joules{joules};
  energy.set_uncertainty(Joules{joules / 100}, Joules{0});
  result.steady.energy_per_output_token = energy;
  result.steady.power = Figure{watts, 1};
  const TimePercentile time{.value = Seconds{between}, .low = Seconds{between}, .high = Seconds{between * 1.05}};
  result.steady.time_between_tokens = Times{.mean = {}, .p50 = time, .p90 = time, .p95 = time, .p99 = time};
  return result;
}

std::string refusal_of_bound(std::string_view text) {
  try {
    static_cast<void>(read_bounds(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.message();
  }
  return {};
}

TEST(LatencyBounds, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(read_bounds("ttft=0.5s,itl=50ms@99"),
            (std::vector<LatencyBound>{{Timed::first, Seconds{0.5}, 95}, {Timed::between, Seconds{0.05}, 99}}));
  EXPECT_EQ(read_bounds("e2el=2min@50"), (std::vector<LatencyBound>{{Timed::whole, Seconds{120}, 50}}));
  for (const char* const wrong : {"", "ttft", "ttft=", "ttft=0s", "ttft=1s@98", "ttft=1s@", "tpot=1s", "ttft=1s,"}) {
    EXPECT_NE(refusal_of_bound(wrong), "") << wrong;
  }
}

Verdict verdict_of(const BenchResult& result, std::string_view bounds) {
  return verdict_on(result, read_bounds(bounds));
}

TEST(LatencyBounds, AreKeptIfTheUpperEndOfTheIntervalIsWithin) {
  EXPECT_EQ(verdict_of(result_of(1, 0.04), "itl=42.1ms@99").why_not, "");
  EXPECT_EQ(verdict_of(result_of(1, 0.04), "itl=41ms@99").why_not, "itl at 99 % may be 42 ms");
  EXPECT_TRUE(verdict_of(result_of(1, 0.04), "itl=41ms@99").is_unclear);
  EXPECT_FALSE(verdict_of(result_of(1, 0.04), "itl=39ms@99").is_unclear);
  EXPECT_FALSE(verdict_of(result_of(1, 0.04), "itl=41ms@99,itl=30ms@50").is_unclear);
  EXPECT_EQ(verdict_of(result_of(1, 0.04), "ttft=41ms").why_not, "ttft is unknown");
  BenchResult few = result_of(1, 0.04);
  few.steady.time_between_tokens->p99.high.reset();
  EXPECT_EQ(verdict_of(few, "itl=1s@99").why_not, "too few answers to know itl at 99 %");
  EXPECT_TRUE(verdict_of(few, "itl=1s@99").is_unclear);
}

TEST(LatencyBounds, AreNotKeptIfMoreRequestsFailThanTheStrictestOneLeavesOut) {
  BenchResult result = result_of(1, 0.04);
  result.answers.sent = 200;
  result.answers.failed = 10;
  EXPECT_EQ(verdict_of(result, "itl=50ms@95").why_not, "");
  EXPECT_EQ(verdict_of(result, "itl=50ms@50,itl=1s@99").why_not, "10 of 200 requests failed");
  EXPECT_FALSE(verdict_of(result, "itl=50ms@99").is_unclear);
  result.answers.failed = 11;
  EXPECT_EQ(verdict_of(result, "itl=50ms@95").why_not, "11 of 200 requests failed");
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

TEST(Tuning, EndsAfterTwoSettingsThatAreNotWithinTheBoundsAndLooksBetween) {
  Tuning tuning{a100, read_bounds("itl=50ms"), 5};
  std::vector<Watts> tried;
  while (const auto step = tuning.next()) {
    tried.push_back(step->setting.limit);
    // A token takes longer the lower the limit is: 50 ms at 184 W.
    tuning.add(result_of(step->setting.limit.value() / 400, 0.05 + (184 - step->setting.limit.value()) * 1e-3), 1);
  }
  EXPECT_EQ(tried,
            (std::vector<Watts>{Watts{400}, Watts{260}, Watts{220}, Watts{180}, Watts{140}, Watts{200}, Watts{190}}));
  EXPECT_EQ(tuning.tried()[*tuning.best()].setting.limit, Watts{190});
}

TEST(Tuning, LooksHalfwayBetweenTwoClocks) {
  SettingLimits clocks = a100;
  clocks.clocks.clear();
  for (int megahertz = 1400; megahertz >= 200; megahertz -= 100) {
    clocks.clocks.emplace_back(megahertz);
  }
  Tuning tuning{clocks, read_bounds("itl=50ms"), 2};
  std::vector<double> tried;
  while (const auto step = tuning.next()) {
    tried.push_back(step->setting.clock.value_or(Megahertz{0}).value());
    // A token takes longer the lower the clock is: 50 ms at 950 MHz.
    const double megahertz = step->setting.clock ? tried.back() : 1400;
    tuning.add(result_of(megahertz / 1000, 0.05 + (950 - megahertz) * 1e-4, 105), 1);
  }
  EXPECT_EQ(tried, (std::vector<double>{0, 800, 200, 1100, 900}));
  EXPECT_EQ(tuning.tried()[*tuning.best()].setting.clock, Megahertz{1100});
}

TEST(Tuning, GoesOnAfterOneThatIsNotWithin) {
  Tuning tuning{a100, read_bounds("itl=50ms"), 4};
  for (const double between : {0.03, 0.06, 0.03}) {
    ASSERT_TRUE(tuning.next());
    tuning.add(result_of(0.5, between), 1);
  }
  EXPECT_TRUE(tuning.next());
}

TEST(Tuning, MeasuresWhatIsUnclearAgainWithMoreRequests) {
  Tuning tuning{a100, read_bounds("itl=50ms"), 4};
  tuning.add(result_of(1.0, 0.03), 1);
  std::vector<std::uint64_t> efforts;
  while (tuning.tried().size() < 2 || tuning.next()->effort > 1) {
    efforts.push_back(tuning.next()->effort);
    tuning.add(result_of(0.9, 0.049), 1);
  }
  EXPECT_EQ(efforts, (std::vector<std::uint64_t>{1, 2, 4, 8}));
  EXPECT_EQ(tuning.tried().size(), 2U);
  EXPECT_EQ(tuning.best(), 0U);
}

TEST(Tuning, EndsWhenJoulesPerTokenClearlyRise) {
  Tuning tuning{a100, read_bounds("itl=50ms"), 8};
  for (const double joules : {1.0, 0.8, 0.805, 0.83}) {
    ASSERT_TRUE(tuning.next());
    tuning.add(result_of(joules, 0.01), 1);
  }
  EXPECT_FALSE(tuning.next());
  EXPECT_EQ(tuning.best(), 1U);
}

TEST(Tuning, HasNoBestIfNoneKeepsTheBounds) {
  Tuning tuning{a100, read_bounds("itl=5ms"), 8};
  while (tuning.next()) {
    tuning.add(result_of(1.0, 0.01), 1);
  }
  EXPECT_EQ(tuning.tried().size(), 2U);
  EXPECT_FALSE(tuning.best());
}

TEST(Tuning, OfSeveralGpusCountsWhatEachDraws) {
  Tuning tuning{a100, read_bounds("itl=50ms"), 4};
  tuning.add(result_of(1.0, 0.01, 600), 2);
  EXPECT_EQ(tuning.next()->setting.limit, Watts{250});
}

}  // namespace
}  // namespace zeus::serving
