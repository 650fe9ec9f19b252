#include "jobs/epoch_account.hpp"

#include <gtest/gtest.h>

namespace zeus::jobs {
namespace {

Try::Taken taken(double time, double energy) {
  return {.gpus = {{.gpu = "GPU-0", .energy = {.value = Joules{energy}, .uncertainty = {}, .systematic = {}}}},
          .time = Seconds{time},
          .unknown = {}};
}

// Four seconds of start at 50 W, then epochs of 2 s and 400 J.
TEST(EpochAccount, SeparatesTheStartFromTheEpochs) {
  EpochAccount account;
  for (int epoch = 1; epoch <= 4; ++epoch) {
    account.epochs_over(epoch, taken(4.0 + 2.0 * epoch, 200.0 + 400.0 * epoch), 250_W);
  }
  const auto whole = account.whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->limit, 250_W);
  EXPECT_EQ(whole->count, 3);
  EXPECT_DOUBLE_EQ(whole->mean_time().value(), 2.0);
  EXPECT_DOUBLE_EQ(whole->mean_energy().value(), 400.0);
  EXPECT_DOUBLE_EQ(whole->start_time->value(), 4.0);
  EXPECT_DOUBLE_EQ(whole->start_energy->value(), 200.0);
  EXPECT_NEAR(whole->time_deviation->value(), 0.0, 1e-12);
}

// The same, followed by three seconds of writing a model at 60 W. The end of the last epoch was reported with them, or
// before.
TEST(EpochAccount, CountsTheEndWithTheStart) {
  for (const int told_of : {3, 4}) {
    EpochAccount account;
    for (int epoch = 1; epoch <= told_of; ++epoch) {
      account.epochs_over(epoch, taken(4.0 + 2.0 * epoch, 200.0 + 400.0 * epoch), 250_W);
    }
    account.ended(4, taken(15.0, 1980.0));
    const auto whole = account.whole();
    ASSERT_TRUE(whole);
    EXPECT_DOUBLE_EQ(whole->start_time->value(), 4.0 + 3.0);
    EXPECT_DOUBLE_EQ(whole->start_energy->value(), 200.0 + 180.0);
    EXPECT_DOUBLE_EQ(whole->mean_time().value(), 2.0);
  }
}

TEST(EpochAccount, StatesHowEpochsScatter) {
  EpochAccount account;
  account.epochs_over(1, taken(1.0, 100.0), 250_W);
  account.epochs_over(2, taken(2.0, 200.0), 250_W);
  account.epochs_over(3, taken(5.0, 500.0), 250_W);
  // 1 s and 3 s: a mean of 2 s, with a deviation of sqrt(2).
  EXPECT_DOUBLE_EQ(account.whole()->mean_time().value(), 2.0);
  EXPECT_NEAR(account.whole()->time_deviation->value(), 1.4142135623730951, 1e-12);
  EXPECT_NEAR(account.whole()->energy_deviation->value(), 141.42135623730951, 1e-9);
}

TEST(EpochAccount, HasNothingForATrainingOfOneEpoch) {
  EpochAccount account;
  EXPECT_FALSE(account.whole());
  account.epochs_over(1, taken(10.0, 1000.0), 250_W);
  EXPECT_FALSE(account.whole());
}

// Steps of 1 s from 4 s on: the first report comes at 5 s, the second at 6 s.
TEST(EpochAccount, CountsTheOnlyEpochIfItsStepsShowWhereItBegan) {
  EpochAccount account;
  account.steps_seen(taken(5.0, 300.0));
  account.steps_seen(taken(6.0, 400.0));
  account.steps_seen(taken(7.0, 500.0));
  account.epochs_over(1, taken(14.0, 1200.0), 250_W);
  const auto whole = account.whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->count, 1);
  EXPECT_DOUBLE_EQ(whole->time.value(), 10.0);
  EXPECT_DOUBLE_EQ(whole->energy.value(), 1000.0);
  EXPECT_DOUBLE_EQ(whole->start_time->value(), 4.0);
  EXPECT_DOUBLE_EQ(whole->start_energy->value(), 200.0);
}

TEST(EpochAccount, FindsTheStartByStepsIfLimitsWereMeasuredInTheFirstEpoch) {
  EpochAccount account;
  account.steps_seen(taken(5.0, 300.0));
  account.steps_seen(taken(6.0, 400.0));
  account.disturb();
  account.epochs_over(1, taken(17.0, 1200.0), 250_W);
  account.epochs_over(2, taken(27.0, 2200.0), 250_W);
  EXPECT_EQ(account.whole()->count, 1);
  EXPECT_DOUBLE_EQ(account.whole()->start_time->value(), 4.0);
}

TEST(EpochAccount, LeavesOutDisturbedEpochs) {
  EpochAccount account;
  account.disturb();
  account.epochs_over(1, taken(10.0, 1000.0), 250_W);
  account.epochs_over(2, taken(12.0, 1200.0), 250_W);
  account.disturb();
  account.epochs_over(3, taken(20.0, 2000.0), 250_W);
  account.epochs_over(4, taken(22.0, 2200.0), 250_W);
  const auto whole = account.whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->count, 2);
  EXPECT_DOUBLE_EQ(whole->mean_time().value(), 2.0);
  EXPECT_FALSE(whole->start_time) << "limits were measured in the first epoch";
}

TEST(EpochAccount, StartsOverUnderAnotherLimit) {
  EpochAccount account;
  account.epochs_over(1, taken(5.0, 500.0), 250_W);
  account.epochs_over(2, taken(6.0, 600.0), 250_W);
  account.disturb();
  account.epochs_over(3, taken(8.0, 700.0), 100_W);
  account.epochs_over(4, taken(11.0, 850.0), 100_W);
  const auto whole = account.whole();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->limit, 100_W);
  EXPECT_EQ(whole->count, 1);
  EXPECT_DOUBLE_EQ(whole->mean_time().value(), 3.0);
  EXPECT_FALSE(whole->start_time);
}

TEST(EpochAccount, CountsEpochsReportedTogether) {
  EpochAccount account;
  account.epochs_over(1, taken(3.0, 300.0), 250_W);
  account.epochs_over(4, taken(9.0, 900.0), 250_W);
  EXPECT_EQ(account.whole()->count, 3);
  EXPECT_DOUBLE_EQ(account.whole()->mean_time().value(), 2.0);
  EXPECT_FALSE(account.whole()->time_deviation);
}

TEST(EpochAccount, HasNothingIfTheEnergyIsUnknown) {
  EpochAccount account;
  account.epochs_over(1, taken(3.0, 300.0), 250_W);
  account.epochs_over(2, {.gpus = {}, .time = 5_s, .unknown = "the GPU is lost"}, 250_W);
  EXPECT_FALSE(account.whole());
}

}  // namespace
}  // namespace zeus::jobs
