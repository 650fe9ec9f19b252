#include "control/lease.hpp"
#include "tests/support/leased_gpus.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace zeus::control {
namespace {

using ::testing::HasSubstr;

using ShareTest = test::LeasedGpus;

TEST_F(ShareTest, TheOldestSharesClientIsReportedAsTheHolder) {
  const LeaseClient one{.user = 1000, .process = Holder{77, 98, "python3"}};
  const LeaseClient other{.token = "alice"};
  Lease first = book().acquire("GPU-0", 60_s, {.client = one});
  Lease second = book().acquire("GPU-0", 60_s, {.client = other});
  const Lease third = book().acquire("GPU-0");
  EXPECT_EQ(first.client(), one);
  EXPECT_EQ(second.client(), other);
  EXPECT_EQ(third.client(), std::nullopt);
  const auto asks = [&] { static_cast<void>(book().acquire("GPU-0")); };
  EXPECT_EQ(record()->client, one);
  EXPECT_THAT(failure_elsewhere(asks), HasSubstr(" for user 1000's process 77 (python3), for 61 s more"));
  first.release();
  EXPECT_EQ(record()->client, other);
  EXPECT_THAT(failure_elsewhere(asks), HasSubstr(" for the token of alice, for 61 s more"));
  second.release();
  EXPECT_EQ(record()->client, std::nullopt);
}

TEST_F(ShareTest, TheRecordLastsForTheLongestOpenTerm) {
  Lease long_one = book().acquire("GPU-0", 600_s);
  const Lease short_one = book().acquire("GPU-0", 60_s);
  clock_.advance(10_s);
  EXPECT_EQ(record()->expires, clock_.now() + 590_s);
  long_one.release();
  EXPECT_EQ(record()->expires, clock_.now() + 60_s);
}

// This holds for any spacing of renewals: the guardian goes by the expiry in the record, which must not be too early.
TEST_F(ShareTest, ALeaseForAClientLastsItsTermAfterTheLastRenewalAndAtMostASecondMore) {
  Lease lease = book().acquire("GPU-0", 10_s, {.client = LeaseClient{.user = 1000}});
  lease.set_power_limit(150_W);
  for (const Seconds pause : {4_s, 0.9_s, 0.2_s, 9.9_s, 0.5_s}) {
    clock_.advance(pause);
    lease.renew();
    EXPECT_GE(record()->expires - clock_.now(), 10_s);
    EXPECT_LE(record()->expires - clock_.now(), 11_s);
  }
}

}  // namespace
}  // namespace zeus::control
