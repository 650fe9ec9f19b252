#include "measure/counter_track.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zeus::measure {
namespace {

constexpr Instant watched_from{1'000'000'000};

// A counter that moves every 100 ms, 33 ms after each tenth of a second, at 200 W.
Joules shown(Instant at) {
  return Joules{20.0 * std::floor((static_cast<double>(at.nanoseconds) * 1e-9 - 0.033) / 0.1)};
}

struct Watcher {
  CounterTrack track{{.resolution = Joules{1e-3}, .wraps_at = {}}};
  Instant now = watched_from;
  int readings = 0;
  Random random{11};

  void watch(Seconds time) {
    const Instant until = now + time;
    while (true) {
      const Instant next = track.next_reading(now) + Seconds{random.uniform(1e-6, 50e-6)};
      if (next > until) {
        break;
      }
      now = next;
      ++readings;
      (void)track.observe(now, Seconds{0}, shown(now));
    }
    now = until;
  }
};

TEST(CounterTrack, EachTickIsBracketedAndTheBracketHoldsIt) {
  Watcher watcher;
  watcher.watch(4_s);
  ASSERT_GT(watcher.track.history().ticks.size(), 30U);
  for (const Tick& tick : watcher.track.history().ticks) {
    const double phase = std::fmod(static_cast<double>(tick.middle().nanoseconds) * 1e-9 - 0.033 + 0.05, 0.1) - 0.05;
    EXPECT_LE(std::abs(phase), tick.width().value() * 0.5 + 1e-9);
    EXPECT_LT(tick.width().value(), 0.02);
  }
}

TEST(CounterTrack, AFewReadingsPerTickSuffice) {
  Watcher watcher;
  watcher.watch(2_s);
  watcher.readings = 0;
  watcher.watch(10_s);
  EXPECT_LT(watcher.readings, 400);  // 100 ticks
}

TEST(CounterTrack, WhoLooksLateIsAskedToLookEarlier) {
  Watcher watcher;
  watcher.watch(2_s);
  int close = 0;
  std::uint64_t last = 0;
  for (int look = 0; look < 400; ++look) {
    watcher.now = watcher.track.next_reading(watcher.now) + Seconds{0.01 * watcher.random.exponential()};
    (void)watcher.track.observe(watcher.now, Seconds{0}, shown(watcher.now));
    const Tick& tick = watcher.track.history().ticks.back();
    close += tick.number != last && tick.width().value() < 3e-3 ? 1 : 0;
    last = tick.number;
  }
  EXPECT_GT(close, 100);
}

TEST(CounterTrack, KnowsTheRhythmAgainAfterAPause) {
  Watcher watcher;
  watcher.watch(3_s);
  for (int i = 0; i < 50; ++i) {
    watcher.track.pause();
    watcher.now = watcher.now + Seconds{watcher.random.uniform(4, 7)};
    watcher.watch(0.4_s);
    ASSERT_GE(watcher.track.history().row, 3U);
    EXPECT_NEAR(watcher.track.history().period->value(), 0.1, 1e-3);
    for (const Tick& tick : watcher.track.history().ticks) {
      EXPECT_LT(tick.width().value(), 0.015);
      EXPECT_EQ(shown(tick.middle() + tick.width()), shown(tick.middle() - tick.width()) + 20_J);
    }
  }
}

TEST(CounterTrack, ATickMissedJustAfterAPauseIsNotTakenForTheOneBeforeIt) {
  Watcher watcher;
  watcher.watch(3_s);
  for (int step = 0; step <= 80; ++step) {
    const double before_tick = -20.25e-3 + 0.5e-3 * step;
    Watcher woken = watcher;
    woken.track.pause();
    // Looks once, then, on a busy machine, not before the tick after the next one is over.
    woken.now = watched_from + 10.033_s - Seconds{before_tick};
    (void)woken.track.observe(woken.now, Seconds{0}, shown(woken.now));
    const Instant first_look = woken.now;
    woken.now = watched_from + 10.135_s;
    (void)woken.track.observe(woken.now, Seconds{0}, shown(woken.now));
    woken.watch(0.5_s);
    const History& history = woken.track.history();
    const auto row = history.ticks.end() - static_cast<std::ptrdiff_t>(history.row);
    const Tick& shown_first = *row;
    const Instant truth = watched_from + (before_tick > 0 ? 9.933_s : 10.033_s);
    EXPECT_LE(shown_first.earliest, std::min(truth, first_look)) << before_tick;
    EXPECT_GE(shown_first.latest, truth) << before_tick;
    EXPECT_EQ(shown_first.total + 20_J * (before_tick > 0 ? 2 : 1), std::next(row)->total);
  }
}

// The first look comes just before a tick that was expected just before it, so the next look is a period later.
TEST(CounterTrack, ATickSeenAWholePeriodLateIsPlacedByTheNextOne) {
  Watcher watcher;
  watcher.watch(3_s);
  watcher.track.pause();
  for (const Instant look : {watched_from + 10.0329_s, watched_from + 10.132_s}) {
    watcher.now = look;
    (void)watcher.track.observe(look, Seconds{0}, shown(look));
  }
  watcher.watch(0.15_s);
  const History& history = watcher.track.history();
  ASSERT_EQ(history.row, 4U);
  for (auto tick = history.ticks.end() - 4; tick != history.ticks.end(); ++tick) {
    EXPECT_LT(tick->width().value(), 5e-3) << tick->number;
    EXPECT_EQ(shown(tick->latest), shown(tick->earliest) + 20_J) << tick->number;
  }
}

TEST(CounterTrack, GoingBackIsABreakAndWrappingIsNot) {
  CounterTrack plain{{.resolution = Joules{1e-3}, .wraps_at = {}}};
  (void)plain.observe(watched_from, Seconds{0}, 1000_J);
  EXPECT_EQ(plain.observe(watched_from + 1_s, Seconds{0}, 10_J), CounterTrack::Observation::broken);
  EXPECT_EQ(plain.history().epoch, 1U);
  CounterTrack wrapping{{.resolution = Joules{1e-3}, .wraps_at = 1024_J}};
  (void)wrapping.observe(watched_from, Seconds{0}, 1000_J);
  EXPECT_EQ(wrapping.observe(watched_from + 1_s, Seconds{0}, 10_J), CounterTrack::Observation::ticked);
  EXPECT_EQ(wrapping.history().epoch, 0U);
}

TEST(CounterTrack, TwoReadingsAtTheSameTimeAreNoBreakWhicheverCameFirst) {
  CounterTrack track{{.resolution = Joules{1e-3}, .wraps_at = {}}};
  (void)track.observe(watched_from, Seconds{0}, 1000_J);
  (void)track.observe(watched_from + 10_ms, 1_ms, 1020_J);
  // Its thread was held up after the driver had answered.
  EXPECT_EQ(track.observe(watched_from + 25_ms, 50_ms, 1000_J), CounterTrack::Observation::unchanged);
  EXPECT_EQ(track.history().epoch, 0U);
  EXPECT_EQ(track.observe(watched_from + 60_ms, 1_ms, 1040_J), CounterTrack::Observation::ticked);
  EXPECT_EQ(track.observe(watched_from + 90_ms, 1_ms, 10_J), CounterTrack::Observation::broken);
}

TEST(CounterTrack, ACounterThatStandsStillIsAskedLessAndLess) {
  CounterTrack track{{.resolution = Joules{1e-3}, .wraps_at = {}}};
  Instant now = watched_from;
  int readings = 0;
  bool frozen = false;
  while (now < watched_from + 60_s) {
    now = track.next_reading(now) + Seconds{20e-6};
    frozen = now > watched_from + 2_s;
    (void)track.observe(now, Seconds{0}, shown(frozen ? watched_from + 2_s : now));
    readings += frozen ? 1 : 0;
  }
  EXPECT_LT(readings, 1000);
}

}  // namespace
}  // namespace zeus::measure
