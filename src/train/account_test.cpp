// What a session reports of a training, against the true values.
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

TEST_F(AccountTest, AReadingBetweenTwoPartsCountsOnce) {
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

// Measures a joule in each window, and two when it is asked once more.
class MeterThatKnowsBetterLater final : public Meter {
 public:
  explicit MeterThatKnowsBetterLater(const Clock& clock) : clock_{clock} {}

  void begin(std::string_view /*window*/) override { began_ = clock_.now(); }
  Measurement end(std::string_view /*window*/) override {
    Measurement measurement;
    measurement.start = began_ - Instant{};
    measurement.end = clock_.now() - Instant{};
    measurement.gpu_energy[0].energy = Energy{.value = 1_J, .uncertainty = 0.1_J};
    return measurement;
  }
  Measurement settle(const Measurement& measurement, Seconds patience) override {
    patience_ = patience;
    Measurement settled = measurement;
    settled.settled = patience > Seconds{0};
    settled.gpu_energy[0].energy->value = settled.settled ? 2_J : 1_J;
    return settled;
  }
  void cancel(std::string_view /*window*/) override {}
  [[nodiscard]] Seconds patience() const { return patience_; }

 private:
  const Clock& clock_;
  Instant began_;
  Seconds patience_;
};

TEST_F(AccountTest, AnEdgeJustAfterThePowerWasSetIsWaitedForAndNoOther) {
  VirtualClock& clock = training_.clock();
  MeterThatKnowsBetterLater meter{clock};
  EventReporter reporter{nullptr};
  Account account{&meter, {training_.parts().gpus.front()}, clock, reporter};
  account.cut(Part::slices);
  clock.advance(1_s);
  account.power_was_set();
  clock.advance(5_ms);  // until the other ranks have set theirs
  account.cut(Part::rest);
  EXPECT_EQ(total(account.take(Seconds{0})).energy.value, 2_J);
  EXPECT_GE(meter.patience(), 0.2_s);
  clock.advance(1_s);
  account.cut(Part::steps);
  EXPECT_EQ(total(account.take(Seconds{0})).energy.value, 1_J);
  EXPECT_EQ(meter.patience(), 0_s);
}

}  // namespace
}  // namespace zeus::train
