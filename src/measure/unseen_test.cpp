#include "measure/unseen.hpp"

#include <gtest/gtest.h>

namespace zeus::measure {
namespace {

constexpr Seconds tick = 100_ms;
constexpr Seconds window = 25_ms;

// Samples of a load that changes from tick to tick, and a counter that says of each tick what `mean` makes of the
// sample before and the one at its end.
template <typename Mean>
UnseenTime watch(int ticks, Mean mean) {
  UnseenTime unseen;
  for (int i = 1; i <= ticks; ++i) {
    const Watts before{i % 2 == 1 ? 100.0 : 250.0};
    const Watts sample{i % 2 == 0 ? 100.0 : 250.0};
    unseen.tick_came(static_cast<std::uint64_t>(i), mean(before, sample), Watts{0.3}, tick, sample, window);
  }
  return unseen;
}

TEST(UnseenTime, ACounterThatRepeatsItsSamplesIsSuspected) {
  EXPECT_TRUE(watch(5, [](Watts, Watts sample) { return sample; }).suspected());
}

TEST(UnseenTime, OneThatSeesAllOfTheTimeIsNot) {
  EXPECT_FALSE(watch(50, [](Watts before, Watts sample) { return (before + sample) * 0.5; }).suspected());
}

TEST(UnseenTime, ASteadyLoadSaysNothing) {
  UnseenTime unseen;
  for (std::uint64_t i = 1; i < 100; ++i) {
    unseen.tick_came(i, 200_W, Watts{0.3}, tick, 200_W, window);
  }
  EXPECT_FALSE(unseen.suspected());
  EXPECT_EQ(unseen.up_to(99).variance, 0);
}

TEST(UnseenTime, EveryChangeAddsWhatMayHaveBeenMissed) {
  const UnseenTime unseen = watch(20, [](Watts, Watts sample) { return sample; });
  const Unseen early = unseen.up_to(5);
  const Unseen late = unseen.up_to(20);
  // 150 W for 75 ms, uniform.
  EXPECT_NEAR(late.variance - early.variance, 15 * 150 * 150 * 0.075 * 0.075 / 12, 1e-9);
  EXPECT_FALSE(unseen.up_to(0).suspected);
}

TEST(UnseenTime, ALoadThatKeepsStepIsToldFromOneThatDoesNot) {
  EXPECT_EQ(watch(40, [](Watts, Watts sample) { return sample; }).up_to(40).cycle, 2);
  UnseenTime irregular;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    const Watts sample{100.0 + static_cast<double>(i * i * 37 % 101)};
    irregular.tick_came(i, sample, Watts{0.3}, tick, sample, window);
  }
  EXPECT_GT(irregular.up_to(40).cycle, 30);
}

TEST(UnseenTime, ChangesAcrossAPauseAreNone) {
  UnseenTime unseen;
  for (std::uint64_t i = 1; i < 20; ++i) {
    const Watts sample{i % 2 == 0 ? 100.0 : 250.0};
    unseen.pause();
    unseen.tick_came(i, sample, Watts{0.3}, tick, sample, window);
  }
  EXPECT_FALSE(unseen.suspected());
}

}  // namespace
}  // namespace zeus::measure
