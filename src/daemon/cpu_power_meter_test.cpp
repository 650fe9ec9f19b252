#include "daemon/cpu_power_meter.hpp"

#include "tests/support/fake_gpu.hpp"
#include "tests/support/hand_loop.hpp"

#include <gmock/gmock.h>

namespace zeus::daemon {
namespace {

class CpuPowerMeterTest : public ::testing::Test {
 protected:
  CpuPowerMeterTest() {
    loop_.tick = [this](Instant now) {
      reader_.tick(now);
      meter_.tick(now);
    };
    count(0);
  }

  void count(double joules) {
    package_->its_package = device::Stamped<Joules>{Joules{joules}, clock_.now(), {}};
    package_->its_memory = device::Stamped<Joules>{Joules{joules / 10}, clock_.now(), {}};
  }
  void ask() {
    meter_.ask([this](const CpuPowerMeter::Answer& answer) { answers_.push_back(answer); });
  }
  // Waits until every reading was passed on.
  void settle() {
    loop_.run_until([&] { return reader_.thread().is_idle(); });
  }
  // This much time passes, and this much energy is used.
  void advance(double seconds, double joules) {
    settle();
    clock_.advance(Seconds{seconds});
    used_ += joules;
    count(used_);
    loop_.advance(Seconds{0});
    settle();
  }
  [[nodiscard]] double watts(std::size_t answer) const {
    return std::get<protocol::CpuPower>(answers_.at(answer)).package.amount().value();
  }

  VirtualClock clock_{Instant{1'000'000'000'000}};
  test::HandLoop loop_{clock_};
  std::shared_ptr<test::FakeCpu> package_ = std::make_shared<test::FakeCpu>(0, "package-0");
  CpuReader reader_{loop_, 0, package_, nullptr, "", DeviceThread::Bounds{}};
  CpuPowerMeter meter_{loop_, reader_, Seconds{0.1}};
  double used_ = 0;
  std::vector<CpuPowerMeter::Answer> answers_;
};

TEST_F(CpuPowerMeterTest, PowerIsByTheTimeThatPassedInFact) {
  ask();
  advance(0.05, 5);
  EXPECT_THAT(answers_, ::testing::IsEmpty());
  advance(0.20, 20);  // the machine was busy, and it is read late
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_NEAR(watts(0), 100, 0.01);
}

TEST_F(CpuPowerMeterTest, SimultaneousRequestsShareOneAnswerAndTheNextStartsThere) {
  ask();
  advance(0.05, 5);
  ask();
  advance(0.06, 6);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NEAR(watts(1), 100, 0.01);
  advance(0.1, 30);
  ask();  // the last reading is as old as a period
  settle();
  ASSERT_EQ(answers_.size(), 3U);
  EXPECT_NEAR(watts(2), 300, 0.01);
}

TEST_F(CpuPowerMeterTest, ALaterRequestDoesNotGetTheMeanOfTheTimeBetween) {
  ask();
  advance(0.1, 10);
  ASSERT_EQ(answers_.size(), 1U);
  advance(100, 100000);
  ask();
  advance(0.1, 20);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NEAR(watts(1), 200, 0.01);
}

TEST_F(CpuPowerMeterTest, AFailedReadingIsRefusedAndTheNextRequestStartsAgain) {
  ask();
  settle();
  package_->its_package = Reason::permission;
  clock_.advance(Seconds{0.1});
  loop_.advance(Seconds{0});
  settle();
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Refused>(answers_[0]));
  count(0);
  used_ = 0;
  ask();
  advance(0.1, 15);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NEAR(watts(1), 150, 0.01);
}

}  // namespace
}  // namespace zeus::daemon
