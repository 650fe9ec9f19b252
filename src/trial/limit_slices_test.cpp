#include "trial/limit_slices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::trial {

namespace {

using namespace literals;
using testing::IsEmpty;
using testing::SizeIs;

PowerMeasurement step_under(Watts limit, Seconds time, Watts power) {
  PowerMeasurement one;
  one.setting = {.limit = limit, .clock = {}};
  one.steps = 10;
  one.step_time = time;
  one.step_energy.value = power * time;
  return one;
}

records::LimitProfile epoch_under(Watts limit, Seconds time, Watts power) {
  return {.limit = limit, .epoch_time = time, .average_power = power};
}

TEST(LimitSlices, AreAsLongAsWantedIfTheTrainingIsLongOrUnknown) {
  EXPECT_EQ(time_for_each_limit(5_s, {}, 4), 5_s);
  EXPECT_EQ(time_for_each_limit(5_s, 3600_s, 4), 5_s);
}

TEST(LimitSlices, TakeHalfOfAShortTrainingTogether) {
  // Half of 60 s for four limits, each with a quarter of it to settle, and one to warm up.
  EXPECT_EQ(time_for_each_limit(15_s, 60_s, 4), 5_s);
  EXPECT_EQ(time_for_each_limit(5_s, 1_s, 4), shortest_slice);
}

TEST(LimitSlices, AreEpochsIfEpochsWereMeasured) {
  const std::vector<records::LimitProfile> profiles =
      limit_profiles({.measurements = {step_under(250_W, 2_s, 200_W), step_under(100_W, 4_s, 90_W)}}, {});
  ASSERT_THAT(profiles, SizeIs(2));
  EXPECT_EQ(profiles[0].limit, 100_W);
  EXPECT_EQ(profiles[0].epoch_time, 4_s);
  EXPECT_EQ(profiles[1].average_power, 200_W);
}

TEST(LimitSlices, OfStepsMakeEpochsInWhichEvaluationFollowsTheLimitHalfAsMuch) {
  const std::vector<records::LimitProfile> profiles =
      limit_profiles({.measurements = {step_under(250_W, 1_s, 200_W), step_under(100_W, 2_s, 100_W)}},
                     EpochShape{.steps = 10, .beside_steps = 0.2});
  ASSERT_THAT(profiles, SizeIs(2));
  // Under the highest limit: 10 steps of 1 s, and 2 s beside. Under the other: 10 steps of 2 s, and 3 s beside.
  EXPECT_DOUBLE_EQ(profiles[1].epoch_time.value(), 12);
  EXPECT_DOUBLE_EQ(profiles[1].average_power.value(), 200);
  EXPECT_DOUBLE_EQ(profiles[0].epoch_time.value(), 23);
  EXPECT_DOUBLE_EQ(profiles[0].average_power.value(), (2000.0 + 400.0) / 23.0);
}

TEST(LimitSlices, LeaveOutSettingsWithClocks) {
  PowerMeasurement clocked = step_under(250_W, 1_s, 200_W);
  clocked.setting.clock = Megahertz{1000};
  EXPECT_THAT(limit_profiles({.measurements = {clocked}}, {}), IsEmpty());
}

TEST(Reference, IsMeasuredAgainWithTheLimitsThatAreComparedWithIt) {
  Reference reference;
  EXPECT_THAT(reference.add_to({100_W, 150_W}, {.run_time = {}, .reference = epoch_under(250_W, 10_s, 200_W)}, false),
              testing::ElementsAre(100_W, 150_W, 250_W));
}

TEST(Reference, IsNotAddedIfItIsMeasuredAnywayOrThisTrainingHasMeasuredBefore) {
  Reference reference;
  const jobs::Try::Known known{.run_time = {}, .reference = epoch_under(250_W, 10_s, 200_W)};
  EXPECT_THAT(reference.add_to({100_W, 250_W}, known, false), testing::ElementsAre(100_W, 250_W));
  EXPECT_THAT(reference.add_to({100_W}, known, true), testing::ElementsAre(100_W));
  EXPECT_THAT(reference.scale({epoch_under(100_W, 20_s, 90_W)}), SizeIs(1));
}

TEST(Reference, TakesLimitsBackToTheNightOnWhichItWasMeasured) {
  Reference reference;
  (void)reference.add_to({100_W}, {.run_time = {}, .reference = epoch_under(250_W, 10_s, 200_W)}, false);
  // Tonight everything takes half as long again and a tenth more power.
  const std::vector<records::LimitProfile> then =
      reference.scale({epoch_under(100_W, 30_s, 99_W), epoch_under(250_W, 15_s, 220_W)});
  ASSERT_THAT(then, SizeIs(1));
  EXPECT_EQ(then[0].limit, 100_W);
  EXPECT_DOUBLE_EQ(then[0].epoch_time.value(), 20);
  EXPECT_DOUBLE_EQ(then[0].average_power.value(), 90);
}

TEST(Reference, AddsItsOwnUncertaintyToThatOfALimit) {
  Reference reference;
  (void)reference.add_to({100_W}, {.run_time = {}, .reference = epoch_under(250_W, 10_s, 200_W)}, false);
  records::LimitProfile one = epoch_under(100_W, 20_s, 90_W);
  one.epoch_time_uncertainty = 0.6_s;
  records::LimitProfile again = epoch_under(250_W, 10_s, 200_W);
  again.epoch_time_uncertainty = 0.4_s;
  const std::vector<records::LimitProfile> then = reference.scale({one, again});
  ASSERT_THAT(then, SizeIs(1));
  // 3 % and 4 %.
  EXPECT_NEAR(then[0].epoch_time_uncertainty->value(), 20 * 0.05, 1e-9);
}

TEST(Reference, LeavesEverythingUnknownUntilItIsMeasuredAgain) {
  Reference reference;
  (void)reference.add_to({100_W}, {.run_time = {}, .reference = epoch_under(250_W, 10_s, 200_W)}, false);
  EXPECT_THAT(reference.scale({epoch_under(100_W, 20_s, 90_W)}), IsEmpty());
}

}  // namespace

}  // namespace zeus::trial
