#include "measure/rhythm.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zeus::measure {
namespace {

constexpr Instant first_tick{1'000'000'000};
constexpr Seconds tick_distance{0.1};

// Ticks come at even distances, each too early or too late by at most `uneven`.
struct Ticks {
  Seconds uneven;
  Random random{5};

  [[nodiscard]] Instant tick(int number) {
    return first_tick + tick_distance * number + uneven * (2.0 * random.uniform() - 1.0);
  }
};

TEST(Rhythm, ATickThatWasSeenLateIsPlacedByThoseThatWereSeenInTime) {
  Rhythm rhythm;
  Ticks ticks{};
  for (int number = 0; number < 40; ++number) {
    const Instant tick = ticks.tick(number);
    const bool late = number % 3 == 2;
    const Bracket seen{tick - (late ? 80_ms : 0.6_ms), tick + (late ? 15_ms : 0.4_ms)};
    const Bracket came = rhythm.tick_came(seen, true);
    EXPECT_LE(came.earliest, tick);
    EXPECT_GE(came.latest, tick);
    if (number > 4) {
      EXPECT_LT(came.width().value(), late ? 3e-3 : 1.1e-3) << number;
    }
  }
  EXPECT_NEAR(rhythm.period()->value(), tick_distance.value(), 1e-4);
}

TEST(Rhythm, EveryTickSeenLateStillPlacesTheOthers) {
  Rhythm rhythm;
  Ticks ticks{};
  Random random{9};
  Instant looked = first_tick - 30_ms;
  double widths = 0;
  for (int number = 0; number < 200; ++number) {
    const Instant tick = ticks.tick(number);
    const Instant before = std::max(looked, tick - 20_ms * random.uniform());
    looked = tick + 10_ms * random.exponential();
    if (looked > ticks.tick(number + 1)) {
      continue;  // the next one is seen with it
    }
    const Bracket came = rhythm.tick_came({before, looked}, true);
    EXPECT_LE(came.earliest, tick) << number;
    EXPECT_GE(came.latest, tick) << number;
    widths += number >= 50 ? came.width().value() : 0;
  }
  EXPECT_LT(widths / 150, 3e-3);  // of 20 ms, as they were seen
}

TEST(Rhythm, ATickThatWasSeenRoughlyIsPlacedByThoseAfterIt) {
  Rhythm rhythm;
  Ticks ticks{};
  const Bracket first{ticks.tick(0) - 70_ms, ticks.tick(0) + 10_ms};
  (void)rhythm.tick_came(first, true);
  EXPECT_EQ(rhythm.narrowed(first).width(), first.width());
  for (int number = 1; number < 12; ++number) {
    (void)rhythm.tick_came({ticks.tick(number) - 0.6_ms, ticks.tick(number) + 0.4_ms}, true);
  }
  const Bracket came = rhythm.narrowed(first);
  EXPECT_LE(came.earliest, ticks.tick(0));
  EXPECT_GE(came.latest, ticks.tick(0));
  EXPECT_LT(came.width().value(), 3e-3);
  const Bracket of_two{ticks.tick(0) - 70_ms, ticks.tick(1) + 10_ms};
  EXPECT_EQ(rhythm.narrowed(of_two).width(), of_two.width()) << "one or the other";
}

TEST(Rhythm, ThePeriodIsKnownMoreCloselyTheLongerTicksAreSeen) {
  Rhythm rhythm;
  Ticks ticks{};
  double before = 1;
  for (int number = 0; number < 160; ++number) {
    (void)rhythm.tick_came({ticks.tick(number) - 0.6_ms, ticks.tick(number) + 0.4_ms}, true);
    if (number == 20 || number == 40 || number == 80 || number == 159) {
      EXPECT_LT(rhythm.period_doubt().value(), 0.6 * before) << number;
      before = rhythm.period_doubt().value();
    }
  }
}

TEST(Rhythm, TheTicksThatWereSeenMostCloselyAreRememberedLongest) {
  Rhythm rhythm;
  Ticks ticks{};
  Bracket came;
  for (int number = 0; number < 120; ++number) {
    const bool in_time = number < 20;
    const Instant tick = ticks.tick(number);
    came = rhythm.tick_came({tick - (in_time ? 0.6_ms : 30_ms), tick + (in_time ? 0.4_ms : 50_ms)}, true);
  }
  EXPECT_LT(came.width().value(), 0.02);
  EXPECT_LT(rhythm.period_doubt().value(), 1e-4);
}

TEST(Rhythm, UnseenTicksInBetweenDoNotMakeThePeriodLonger) {
  Rhythm rhythm;
  Ticks ticks{};
  int number = 0;
  for (const int passed : {0, 1, 2, 1, 3, 2, 2, 5, 2}) {
    const bool missed = passed > 1;
    number += passed;
    const Instant tick = ticks.tick(number);
    (void)rhythm.tick_came({missed ? tick - tick_distance * passed : tick - 1_ms, tick + (missed ? 60_ms : 1_ms)},
                           true);
  }
  ASSERT_TRUE(rhythm.period());
  EXPECT_NEAR(rhythm.period()->value(), tick_distance.value(), 2e-3);
}

TEST(Rhythm, UnevenTicksAreNotThoughtToBeEven) {
  Rhythm rhythm;
  Ticks ticks{.uneven = 4_ms};
  int inside = 0;
  for (int number = 0; number < 300; ++number) {
    const Instant tick = ticks.tick(number);
    const bool late = number % 3 == 2;
    const Bracket came = rhythm.tick_came({tick - (late ? 80_ms : 0.6_ms), tick + (late ? 15_ms : 0.4_ms)}, true);
    const bool judged = number >= 30;
    inside += judged && came.earliest <= tick && came.latest >= tick ? 1 : 0;
  }
  EXPECT_GE(inside, 260) << "of 270";
}

TEST(Rhythm, IsKnownAgainAfterAPauseAndNotAfterOneInWhichItGotLost) {
  for (const int pause : {50, 400}) {
    Rhythm rhythm;
    Ticks ticks{};
    for (int number = 0; number < 40; ++number) {
      (void)rhythm.tick_came({ticks.tick(number) - 0.6_ms, ticks.tick(number) + 0.4_ms}, true);
    }
    const Instant tick = ticks.tick(40 + pause);
    const Bracket expected = rhythm.after(tick - 50_ms);
    EXPECT_LE(expected.earliest, tick);
    EXPECT_GE(expected.latest, tick);
    EXPECT_LT(expected.width().value(), 1e-3 * (0.1 * pause + 2));
  }
}

TEST(Rhythm, AnotherRhythmIsTakenUp) {
  Rhythm rhythm;
  for (int number = 0; number < 20; ++number) {
    (void)rhythm.tick_came({first_tick + tick_distance * number - 1_ms, first_tick + tick_distance * number}, true);
  }
  const Instant then = first_tick + 2_s;
  for (int number = 1; number < 20; ++number) {
    (void)rhythm.tick_came({then + 20_ms * number - 0.2_ms, then + 20_ms * number}, true);
  }
  EXPECT_NEAR(rhythm.period()->value(), 0.02, 1e-4);
}

}  // namespace
}  // namespace zeus::measure
