#include "trial/energy_account.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace zeus::trial {

namespace {

using namespace literals;

// A GPU at 100 W, and an order of calls that can be checked. Settled windows are a joule more exact.
class ConstantMeter final : public Meter {
 public:
  void begin(std::string_view window) override { began_[std::string{window}] = now_; }
  jobs::Try::Taken end(std::string_view window) override { return over(window, 0_J); }
  jobs::Try::Taken settle(std::string_view window) override { return over(window, 1_J); }
  void cancel(std::string_view window) noexcept override { began_.erase(began_.find(window)); }

  void pass(Seconds time) { now_ += time; }
  void lose_the_gpu() { lost_ = true; }
  [[nodiscard]] std::size_t open() const { return began_.size(); }

 private:
  jobs::Try::Taken over(std::string_view window, Joules more) {
    const Seconds time = now_ - began_.at(std::string{window});
    cancel(window);
    if (lost_) {
      return {.gpus = {}, .time = time, .unknown = "the GPU is lost"};
    }
    return {.gpus = {{.gpu = "GPU-1", .energy = {.value = 100_W * time + more, .uncertainty = 1_J}}},
            .time = time,
            .unknown = {}};
  }

  Seconds now_;
  std::map<std::string, Seconds, std::less<>> began_;
  bool lost_ = false;
};

TEST(EnergyAccount, AddsUpWhatWasTakenUntilEachLook) {
  ConstantMeter meter;
  EnergyAccount account{meter};
  meter.pass(2_s);
  EXPECT_EQ(account.look().energy(), 200_J);
  meter.pass(3_s);
  EXPECT_EQ(account.look().energy(), 500_J);
  EXPECT_EQ(account.look().time, 5_s);
}

TEST(EnergyAccount, EndsWithOneWindowOverAllOfIt) {
  ConstantMeter meter;
  EnergyAccount account{meter};
  meter.pass(2_s);
  (void)account.look();
  meter.pass(2_s);
  EXPECT_EQ(account.close().energy(), 401_J);
  meter.pass(2_s);
  EXPECT_EQ(account.close().energy(), 401_J);
  EXPECT_EQ(account.look().energy(), 401_J);
  EXPECT_EQ(meter.open(), 0U);
}

TEST(EnergyAccount, IsUnknownFromTheWindowOnInWhichTheGpuWasLost) {
  ConstantMeter meter;
  EnergyAccount account{meter};
  meter.pass(2_s);
  (void)account.look();
  meter.lose_the_gpu();
  meter.pass(2_s);
  EXPECT_EQ(account.look().unknown, "the GPU is lost");
  EXPECT_EQ(account.close().unknown, "the GPU is lost");
  EXPECT_EQ(account.close().time, 4_s);
}

TEST(EnergyAccount, OneBeginsBeforeAnotherIsClosed) {
  ConstantMeter meter;
  EnergyAccount account{meter};
  meter.pass(2_s);
  EnergyAccount next{meter, "next"};
  meter.pass(1_s);
  EXPECT_EQ(account.close().time, 3_s);
  EXPECT_EQ(next.close().time, 1_s);
}

TEST(EnergyAccount, LeavesNoWindowBehind) {
  ConstantMeter meter;
  {
    const EnergyAccount account{meter};
    EXPECT_EQ(meter.open(), 2U);
  }
  EXPECT_EQ(meter.open(), 0U);
}

}  // namespace

}  // namespace zeus::trial
