#include "backends/amdsmi/counter_check.hpp"

#include <gtest/gtest.h>

namespace zeus::backends::amdsmi {
namespace {

CounterObservation honest() {
  return {1000_J, 1100_J, 0.5_s, Joules{15.259e-6}, 200_W};
}

std::string verdict_of(const CounterObservation& observation) {
  const std::optional<Failure> verdict = judge_counter(observation);
  return verdict ? std::string{verdict->detail} : "";
}

TEST(CounterCheck, AnHonestCounterIsBelieved) {
  EXPECT_EQ(verdict_of(honest()), "");
  CounterObservation coarse = honest();
  coarse.power = 900_W;  // an averaged sensor lags behind by far
  EXPECT_EQ(verdict_of(coarse), "");
}

TEST(CounterCheck, ACounterThatStandsStillOrRunsBackwardsIsNot) {
  CounterObservation still = honest();
  still.last = still.first;
  EXPECT_EQ(verdict_of(still), "the energy counter stands still");
  CounterObservation backwards = honest();
  backwards.last = 999_J;
  EXPECT_EQ(verdict_of(backwards), "the energy counter runs backwards");
}

TEST(CounterCheck, ACounterInAnotherUnitThanItReportsIsRejected) {
  CounterObservation fast = honest();
  fast.last = 1000_J + 1001_J;
  EXPECT_EQ(verdict_of(fast), "the energy counter and the power sensor disagree more than tenfold");
  CounterObservation slow = honest();
  slow.last = 1000_J + Joules{9.9};
  EXPECT_EQ(verdict_of(slow), "the energy counter and the power sensor disagree more than tenfold");
  for (const double unit : {0.0, 1.0, -15e-6}) {
    CounterObservation odd = honest();
    odd.resolution = Joules{unit};
    EXPECT_EQ(verdict_of(odd), "the energy counter reports an impossible unit") << unit;
  }
}

TEST(CounterCheck, WithoutPowerThereIsNothingToCheckItBy) {
  CounterObservation blind = honest();
  blind.power = std::nullopt;
  EXPECT_NE(verdict_of(blind), "");
  blind.power = 0_W;
  EXPECT_NE(verdict_of(blind), "");
}

}  // namespace
}  // namespace zeus::backends::amdsmi
