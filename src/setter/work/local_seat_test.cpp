#include "setter/work/local_seat.hpp"

#include "tests/support/leased_gpus.hpp"

#include <gtest/gtest.h>

#include <array>

namespace zeus::setter {
namespace {

class LocalSeatTest : public ::testing::Test, protected test::LocalStand {
 protected:
  LocalSeatTest() {
    audited_ = std::make_shared<AuditedControl>(gpu_, gpu_, nullptr);
    const device::DiscoveredGpu gpu{gpu_, audited_, 0};
    book_.emplace(ledger(), std::vector{gpu}, guardian_, clock_);
    seat_.emplace(*book_, ledger_, LocalSeat::Parts{gpu, audited_, std::make_shared<device::DriverGate>()}, clock_);
  }
  [[nodiscard]] Watts limit() const { return *gpu_->power_limits().current; }

  control::Ledger ledger_ = ledger();
  std::shared_ptr<AuditedControl> audited_;
  std::optional<control::LeaseBook> book_;
  std::optional<LocalSeat> seat_;
  control::LeaseClient client_{.user = 1000, .process = {}, .control_group = {}, .token = {}};
};

TEST_F(LocalSeatTest, SetsUnderALeaseAloneAndPutsBackWithItsEnd) {
  EXPECT_TRUE(seat_->set(1, SetPowerLimit{200_W}).error) << "there is no lease";
  EXPECT_EQ(limit(), 250_W);
  const Taken taken = seat_->take(1, 60_s, client_);
  EXPECT_FALSE(taken.error);
  EXPECT_EQ(taken.found, Reading{250_W});
  EXPECT_EQ(seat_->set(1, SetPowerLimit{200_W}).enforced, Reading{200_W});
  EXPECT_EQ(limit(), 200_W);
  EXPECT_FALSE(seat_->release(1, "released"));
  EXPECT_EQ(limit(), 250_W);
}

TEST_F(LocalSeatTest, ALeaseIsBoundedInItsTermAndItsNumberIsItsOwn) {
  EXPECT_TRUE(seat_->take(1, 3601_s, client_).error);
  EXPECT_TRUE(seat_->take(1, Seconds{0}, client_).error);
  EXPECT_FALSE(seat_->take(1, 60_s, client_).error);
  EXPECT_TRUE(seat_->take(1, 60_s, client_).error);
}

TEST_F(LocalSeatTest, EndingAllPutsBackWhatWasFoundFirst) {
  for (const LeaseNumber number : std::array<LeaseNumber, 3>{1, 2, 3}) {
    ASSERT_FALSE(seat_->take(number, 60_s, client_).error);
    ASSERT_FALSE(seat_->set(number, SetPowerLimit{Watts{200.0 - static_cast<double>(number)}}).error);
  }
  seat_->release_all("zeusd has ended");
  EXPECT_EQ(limit(), 250_W);
  EXPECT_FALSE(record("GPU-0"));
}

TEST_F(LocalSeatTest, WhatTheGpuDoesNotSupportIsTheClientsMistakeAndOnlyThen) {
  ASSERT_FALSE(seat_->take(1, 60_s, client_).error);
  gpu_->its_refusals["power"] = {Reason::unsupported, {}};
  EXPECT_EQ(seat_->set(1, SetPowerLimit{200_W}).error->kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(seat_->set(9, SetPowerLimit{200_W}).error->kind(), ErrorKind::not_found)
      << "the refusal before it says nothing of this";
}

TEST_F(LocalSeatTest, AGpuThatWasLostIsOpenedAgainWhenItIsNeeded) {
  ASSERT_FALSE(seat_->take(1, 60_s, client_).error);
  const PowerLimits before = gpu_->its_limits;
  gpu_->its_limits = {Reason::lost, Reason::lost, Reason::lost, Reason::lost, Reason::lost};
  EXPECT_TRUE(seat_->set(1, SetPowerLimit{200_W}).error) << "it cannot be opened";
  gpu_->its_reopening = [&] {
    gpu_->its_limits = before;
    return device::Outcome{device::done};
  };
  EXPECT_FALSE(seat_->set(1, SetPowerLimit{200_W}).error);
  EXPECT_EQ(limit(), 200_W);
}

}  // namespace
}  // namespace zeus::setter
