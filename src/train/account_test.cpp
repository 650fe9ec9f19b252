// What a session says that a training took, against the truth.
#include "tests/support/session_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::train {
namespace {

using test::run_epochs;
using test::TrainingWork;
using ::testing::SizeIs;

class AccountTest : public test::SessionTest {};

TEST_F(AccountTest, AccountsWhatTheTrainingTook) {
  options_.eta = 0.3;
  Session session{training_.parts(), options_};
  const Instant begin = training_.clock().now();
  const Joules before = training_.energy();
  for (int epoch = 0; epoch < 3 && session.next_epoch(); ++epoch) {
    for (int step = 0; step < 300; ++step) {
      session.begin_step();
      training_.step();
    }
    session.end_steps();
    training_.evaluate(5_s, 90_W);
  }
  session.finish();
  const TrainingResult result = session.result();
  const Joules truth = training_.energy() - before;
  ASSERT_TRUE(result.energy);
  EXPECT_NEAR(result.time.value(), (training_.clock().now() - begin).value(), 1e-6);
  EXPECT_NEAR(result.energy->value.value(), truth.value(), 2 * result.energy->uncertainty.value() + 1);
  EXPECT_NEAR(result.cost->value(), 0.3 * result.energy->value.value() + 0.7 * 1000 * result.time.value(),
              1e-6 * result.cost->value());
  EXPECT_THAT(result.epochs, SizeIs(3));
  EXPECT_EQ(result.epochs[2].steps, 300U);
  EXPECT_NEAR((result.epochs[2].time - result.epochs[2].steps_time).value(), 5, 1e-6);
  Joules sum;
  for (const EpochReport& epoch : result.epochs) {
    sum += *epoch.cost;
  }
  EXPECT_NEAR(sum.value(), result.cost->value(), 1e-6 * sum.value());
  EXPECT_TRUE(result.epochs[0].profiled);
  EXPECT_FALSE(result.epochs[1].profiled);
}

TEST_F(AccountTest, WhatIsReadWhileAPartBecomesTheNextCountsOnce) {
  TrainingWork slowly_read = work_;
  slowly_read.read_latency = 20_ms;
  training_.set_work(slowly_read);
  Session session{training_.parts(), options_};
  run_epochs(session, training_, 12, 30);
  session.finish();
  const TrainingResult result = session.result();
  EXPECT_NEAR(result.energy->value / training_.energy(), 1.0, 0.01);
  EXPECT_NEAR(result.time / training_.elapsed(), 1.0, 0.01);
}

}  // namespace
}  // namespace zeus::train
