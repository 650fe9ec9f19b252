// How the leases of one process share a GPU.
#include "tests/support/lease_promises.hpp"

#include "control/lease.hpp"
#include "control/lease_book.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace zeus::test {
namespace {

using control::Lease;
using control::LeaseBook;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_P(SharePromises, AProcessNeverStandsInItsOwnWay) {
  LeaseBook one = book();
  LeaseBook another = book();
  Lease first = one.acquire("GPU-0");
  Lease second = another.acquire("GPU-0");
  EXPECT_TRUE(another.has_one("GPU-0"));
  EXPECT_FALSE(another.has_one("GPU-1"));
  first.set_power_limit(150_W);
  second.set_power_limit(120_W);
  EXPECT_EQ(gpu_->its_limits.current, 120_W);
  EXPECT_EQ(record()->found.power_limit, 250_W);
}

TEST_P(SharePromises, TheLatestSettingAppliesAndTheLastEndRestoresWhatWasFoundFirst) {
  gpu_->its_limits.current = 210_W;
  Lease first = book().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = book().acquire("GPU-0");
  second.set_power_limit(150_W);
  first.set_power_limit(180_W);
  EXPECT_EQ(gpu_->its_limits.current, 180_W);
  second.release();
  EXPECT_EQ(gpu_->its_limits.current, 180_W);
  first.release();
  EXPECT_EQ(gpu_->its_limits.current, 210_W);
  EXPECT_FALSE(record());
  EXPECT_FALSE(book().has_one("GPU-0"));
}

TEST_P(SharePromises, EndingOneBringsBackTheLatestThatIsStillOpen) {
  Lease first = book().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = book().acquire("GPU-0");
  second.set_power_limit(150_W);
  Lease third = book().acquire("GPU-0");
  third.set_power_limit(120_W);
  second.release();
  EXPECT_EQ(gpu_->its_limits.current, 120_W);
  third.release();
  EXPECT_EQ(gpu_->its_limits.current, 200_W);
  EXPECT_EQ(record()->found.power_limit, 250_W);
}

TEST_P(SharePromises, RestoringWithdrawsOnlyTheSharesOwnSettings) {
  Lease first = book().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = book().acquire("GPU-0");
  second.set_power_limit(150_W);
  second.restore();
  EXPECT_EQ(gpu_->its_limits.current, 200_W);
  second.restore();
  EXPECT_EQ(gpu_->its_limits.current, 200_W);
  second.set_power_limit(140_W);
  EXPECT_EQ(gpu_->its_limits.current, 140_W);
}

TEST_P(SharePromises, SettingsOfDifferentKindsLeaveOneAnotherAlone) {
  Lease limit = book().acquire("GPU-0");
  Lease clocks = book().acquire("GPU-0");
  Lease persistence = book().acquire("GPU-0");
  limit.set_power_limit(200_W);
  clocks.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
  static_cast<void>(persistence.set_persistence_mode(true));
  gpu_->log.clear();
  clocks.release();
  EXPECT_THAT(gpu_->log, ElementsAre("unlock graphics"));
  EXPECT_TRUE(record()->found.clocks.empty()) << "no share of ours changes them any more";
  gpu_->log.clear();
  limit.release();
  EXPECT_THAT(gpu_->log, ElementsAre("power 250"));
  persistence.release();
  EXPECT_EQ(gpu_->its_persistence, false);
}

// The driver of NVIDIA.
TEST_P(SharePromises, GraphicsAndSmClocksAreOneKind) {
  for (const bool tells : {false, true}) {
    gpu_->it_tells_locks = tells;
    Lease first = book().acquire("GPU-0");
    first.lock_clocks(ClockDomain::graphics, {1200_MHz, 1200_MHz});
    Lease second = book().acquire("GPU-0");
    second.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz});
    EXPECT_NE(first.overruled(), "");
    second.release();
    EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], (ClockRange{1200_MHz, 1200_MHz}));
    first.release();
    EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
    EXPECT_FALSE(record());
  }
}

// The driver of AMD.
TEST_P(SharePromises, IfAResetFreesAllDomainsWhatElseIsInForceIsLockedAgain) {
  gpu_->it_tells_locks = false;
  gpu_->its_reset_frees_all_domains = true;
  constexpr ClockRange low{1200_MHz, 1200_MHz};
  constexpr ClockRange memory{800_MHz, 800_MHz};
  Lease first = book().acquire("GPU-0");
  first.lock_clocks(ClockDomain::graphics, low);
  EXPECT_EQ(record()->found.clocks.size(), 2U) << "putting the one back changes the other";
  Lease second = book().acquire("GPU-0");
  second.unlock_clocks(ClockDomain::memory);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], low);
  EXPECT_EQ(first.overruled(), "GPU 0 (Tesla V100) was set to memory clocks unlocked from elsewhere in this process");
  second.lock_clocks(ClockDomain::memory, memory);
  second.restore();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], low);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::memory], std::nullopt);
  EXPECT_EQ(record()->found.clocks.size(), 2U);
  second.lock_clocks(ClockDomain::memory, memory);
  first.release();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::memory], memory);
  second.release();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::memory], std::nullopt);
  EXPECT_FALSE(record());
}

TEST_P(SharePromises, ARefusedSettingChangesNothingForTheOthers) {
  Lease first = book().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = book().acquire("GPU-0");
  gpu_->its_refusals["power"] = Failure{Reason::out_of_range, {}};
  EXPECT_THROW(second.set_power_limit(9000_W), Error);
  gpu_->its_refusals.clear();
  EXPECT_EQ(first.overruled(), "");
  gpu_->log.clear();
  second.release();
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_EQ(record()->found.power_limit, 250_W);
  first.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_P(SharePromises, AnOverruledShareLearnsTheNewSettingUntilItSetsAgain) {
  Lease measuring = book().acquire("GPU-0");
  measuring.set_power_limit(150_W);
  Lease other = book().acquire("GPU-0");
  static_cast<void>(other.set_persistence_mode(true));
  other.set_power_limit(150_W);
  EXPECT_EQ(measuring.overruled(), "") << "no setting that affects power has changed";
  other.set_power_limit(180_W);
  EXPECT_THAT(measuring.overruled(), HasSubstr("GPU 0 (Tesla V100) was set to power limit 180 W from elsewhere"));
  EXPECT_EQ(other.overruled(), "");
  measuring.set_power_limit(150_W);
  EXPECT_EQ(measuring.overruled(), "");
  other.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
  EXPECT_NE(measuring.overruled(), "");
  measuring.restore();
  EXPECT_EQ(measuring.overruled(), "");
  other.release();
  EXPECT_NE(measuring.overruled(), "") << "a setting restored at an end is another setting too";
}

TEST_P(SharePromises, ASettingThatTheDriverRoundedIsRestored) {
  gpu_->it_rounds_to = 1_W;
  Lease first = book().acquire("GPU-0");
  first.set_power_limit(150.4_W);
  Lease second = book().acquire("GPU-0");
  second.set_power_limit(120_W);
  EXPECT_NO_THROW(second.release());
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
}

TEST_P(SharePromises, TheLeaseLastsForTheLongestTermAndEachRenewsIt) {
  Lease long_one = book().acquire("GPU-0", 600_s);
  Lease short_one = book().acquire("GPU-0", 60_s);
  short_one.set_power_limit(150_W);
  advance(500_s);
  EXPECT_NO_THROW(short_one.renew());
  EXPECT_NO_THROW(short_one.set_power_limit(140_W));
  long_one.release();
  advance(61_s);
  EXPECT_EQ(failure_of([&] { short_one.set_power_limit(130_W); }).kind(), ErrorKind::timeout);
  const Lease next = book().acquire("GPU-0");  // waits until the old one has been put back
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_P(SharePromises, ALeaseThatRanOutIsLostToAllItsShares) {
  Lease first = book().acquire("GPU-0", 60_s);
  Lease second = book().acquire("GPU-0", 60_s);
  first.set_power_limit(150_W);
  advance(61_s);
  Lease next = book().acquire("GPU-0", 60_s);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  next.set_power_limit(180_W);
  EXPECT_EQ(failure_of([&] { first.set_power_limit(140_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(failure_of([&] { second.set_power_limit(140_W); }).kind(), ErrorKind::timeout);
  first.release();
  second.release();
  EXPECT_EQ(gpu_->its_limits.current, 180_W);
  next.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_FALSE(record());
}

TEST_P(SharePromises, AFailedRestorationIsRetriedAtTheLastEnd) {
  Lease first = book().acquire("GPU-0");
  Lease second = book().acquire("GPU-0");
  first.set_power_limit(150_W);
  gpu_->its_refusals["power"] = Failure{Reason::unknown, {}};
  EXPECT_EQ(failure_of([&] { first.release(); }).kind(), ErrorKind::unavailable);
  EXPECT_EQ(record()->found.power_limit, 250_W);
  gpu_->its_refusals.clear();
  second.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_P(SharePromises, AForkedChildHasNoneAndIsAnotherProcess) {
  auto first = std::make_unique<Lease>(book().acquire("GPU-0"));
  auto second = std::make_unique<Lease>(book().acquire("GPU-0"));
  second->set_power_limit(150_W);
  const auto asks = [&] { static_cast<void>(book().acquire("GPU-0")); };
  EXPECT_THAT(failure_elsewhere(asks), StartsWith("conflict: GPU 0 (Tesla V100) is leased by "));
  EXPECT_THAT(failure_elsewhere([&] { first->set_power_limit(120_W); }), StartsWith("conflict: "));
  EXPECT_EQ(failure_elsewhere([&] {
              second.reset();
              first.reset();
              EXPECT_EQ(gpu_->its_limits.current, 150_W);
              if (!record()) {
                throw Error{ErrorKind::internal, "a child has ended its parent's lease"};
              }
            }),
            "");
  second.reset();
  first.reset();
  EXPECT_EQ(failure_elsewhere(asks), "") << "it has no holder any more";
}

TEST_P(SharePromises, AreTakenAndEndedByManyThreadsInRealTime) {
  LeaseBook leases = book();
  const auto work = [&](double watts) {
    for (int i = 0; i < 20; ++i) {
      Lease lease = leases.acquire("GPU-0");
      lease.set_power_limit(Watts{watts});
      static_cast<void>(lease.overruled());
      lease.renew();
      if (i % 3 == 0) {
        lease.restore();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(work, 150.0 + i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_FALSE(record());
}

}  // namespace
}  // namespace zeus::test
