#include "measure/unseen.hpp"

#include <gtest/gtest.h>

namespace zeus::measure {
namespace {

constexpr Seconds counter_period = 100_ms;
constexpr Seconds window = 25_ms;

// A history whose tick number n has the sample `sample(n)`. The counter shows in each tick what `mean` computes from
// the sample before it and the one at its end.
template <typename Sample, typename Mean>
History watch(int ticks, Sample sample, Mean mean, bool in_a_row = true) {
  History history;
  history.timing = SensorTiming{counter_period, window};
  history.period = counter_period;
  Joules total;
  for (int i = 1; i <= ticks; ++i) {
    total += mean(sample(i - 1), sample(i)) * counter_period;
    const Instant at = Instant{} + counter_period * i;
    history.ticks.push_back({.number = static_cast<std::uint64_t>(i),
                             .earliest = at - 0.1_ms,
                             .latest = at + 0.1_ms,
                             .total = total,
                             .follows = i > 1 && in_a_row,
                             .sample = sample(i)});
    if (i > 1) {
      const auto last = history.ticks.rbegin();
      last->unseen = std::next(last)->unseen + unseen_between(*std::next(last), *last, history.timing);
    }
  }
  history.row = history.ticks.size();
  return history;
}

Watts up_and_down(int tick) {
  return Watts{tick % 2 == 0 ? 100.0 : 250.0};
}
Watts irregular(int tick) {
  return Watts{100.0 + tick * tick * 37 % 101};
}
Watts last_sample(Watts, Watts sample) {
  return sample;
}

TEST(Unseen, ACounterThatRepeatsItsSamplesIsSuspected) {
  EXPECT_TRUE(unseen_now(watch(5, up_and_down, last_sample)).suspected);
}

TEST(Unseen, OneThatSeesAllOfTheTimeIsNot) {
  const auto mean = [](Watts before, Watts sample) { return (before + sample) * 0.5; };
  EXPECT_FALSE(unseen_now(watch(48, up_and_down, mean)).suspected);
}

TEST(Unseen, ASteadyLoadSaysNothing) {
  const History history = watch(
      48, [](int) { return 200_W; }, last_sample);
  EXPECT_FALSE(unseen_now(history).suspected);
  EXPECT_EQ(history.ticks.back().unseen, JoulesSquared{});
}

TEST(Unseen, EveryChangeAddsWhatMayHaveBeenMissed) {
  const History history = watch(20, up_and_down, last_sample);
  const Unseen now = unseen_now(history);
  const Unseen early = unseen_at(now, history, history.ticks[4]);
  const Unseen late = unseen_at(now, history, history.ticks[19]);
  // 150 W for 75 ms, uniform.
  EXPECT_NEAR((late.variance - early.variance).value(), 15 * 150 * 150 * 0.075 * 0.075 / 12, 1e-9);
}

TEST(Unseen, DistinguishesALoadThatKeepsStepFromOneThatDoesNot) {
  EXPECT_EQ(unseen_now(watch(40, up_and_down, last_sample)).cycle, 2);
  EXPECT_GT(unseen_now(watch(40, irregular, last_sample)).cycle, 30);
}

TEST(Unseen, ChangesAcrossAPauseAreNone) {
  const History history = watch(20, up_and_down, last_sample, false);
  EXPECT_FALSE(unseen_now(history).suspected);
  EXPECT_EQ(history.ticks.back().unseen, JoulesSquared{});
}

}  // namespace
}  // namespace zeus::measure
