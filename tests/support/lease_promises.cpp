#include "tests/support/lease_promises.hpp"

#include "base/log.hpp"
#include "control/lease.hpp"
#include "control/lease_book.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

namespace zeus::test {
namespace {

using control::ClockSetting;
using control::Lease;
using control::LeaseBook;
using control::PowerSetting;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_P(LeasePromises, TakingALeaseChangesNothing) {
  Lease lease = book().acquire("GPU-0");
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_TRUE(record()->found.empty());
  lease.release();
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_FALSE(record());
}

TEST_P(LeasePromises, PutsBackWhatWasFoundAndNotTheMaximum) {
  gpu_->its_limits.current = 210_W;
  {
    Lease lease = book().acquire("GPU-0");
    lease.set_power_limit(150_W);
    lease.set_power_limit(120_W);
    EXPECT_EQ(lease.set_persistence_mode(true), true);
    lease.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
    EXPECT_EQ(gpu_->its_limits.current, 120_W);
    EXPECT_EQ(gpu_->its_persistence, true);
  }
  EXPECT_EQ(gpu_->its_limits.current, 210_W);
  EXPECT_EQ(gpu_->its_persistence, false);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
  EXPECT_FALSE(record());
}

TEST_P(LeasePromises, ClocksThatWereLockedAreLockedToTheSameAgain) {
  gpu_->its_locks[ClockDomain::graphics] = ClockRange{500_MHz, 1200_MHz};
  Lease lease = book().acquire("GPU-0");
  lease.unlock_clocks(ClockDomain::graphics);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
  lease.release();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], (ClockRange{500_MHz, 1200_MHz}));
}

TEST_P(LeasePromises, ADriverThatDoesNotTellItsLocksGetsItsClocksFreed) {
  gpu_->it_tells_locks = false;
  Lease lease = book().acquire("GPU-0");
  const ClockSetting setting = lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz});
  EXPECT_FALSE(setting.locked_to);
  EXPECT_EQ(*setting.running, 1380_MHz);
  lease.release();
  EXPECT_THAT(gpu_->log, ElementsAre("lock graphics 900-900", "unlock graphics"));
}

TEST_P(LeasePromises, LeavesAloneWhatTheLeaseDidNotChange) {
  gpu_->its_locks[ClockDomain::graphics] = ClockRange{500_MHz, 1200_MHz};
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease.release();
  EXPECT_THAT(gpu_->log, ElementsAre("power 150", "power 250"));
}

TEST_P(LeasePromises, TheSettingsFoundAreRecordedBeforeTheFirstChange) {
  Lease lease = book().acquire("GPU-0");
  gpu_->its_refusals["power"] = Failure{Reason::timeout, {}};  // it is unknown whether it was set
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(record()->found.power_limit, 250_W);
}

TEST_P(LeasePromises, WhatIsEnforcedIsReported) {
  gpu_->its_enforced_at_most = 180_W;
  Lease lease = book().acquire("GPU-0");
  const PowerSetting setting = lease.set_power_limit(220_W);
  EXPECT_EQ(setting.requested, 220_W);
  EXPECT_EQ(setting.enforced, 180_W);
}

TEST_P(LeasePromises, ARefusedSettingIsAnErrorAndLeavesNothingToPutBack) {
  Lease lease = book().acquire("GPU-0");
  for (const Reason reason : {Reason::permission, Reason::out_of_range, Reason::unsupported}) {
    gpu_->its_refusals["lock"] = Failure{reason, {}};
    const Error error = failure_of([&] { lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz}); });
    EXPECT_THAT(error.what(), HasSubstr("setting the sm clocks to 900-900 MHz of GPU 0 (Tesla V100)"));
    EXPECT_TRUE(record()->found.empty());
  }
  gpu_->log.clear();
  lease.release();
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_P(LeasePromises, AnUnreadableSettingIsNotChanged) {
  gpu_->its_limits.current = Reason::unsupported;
  gpu_->its_persistence = Reason::permission;
  Lease lease = book().acquire("GPU-0");
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::unavailable);
  EXPECT_EQ(failure_of([&] { static_cast<void>(lease.set_persistence_mode(true)); }).kind(),
            ErrorKind::permission_denied);
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_P(LeasePromises, ALostGpuIsReportedAndItsRecordStaysForTheNextAttempt) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  gpu_->its_refusals["power"] = Failure{Reason::lost, "the GPU has fallen off the bus"};
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(140_W); }).kind(), ErrorKind::unavailable);
  const Error error = failure_of([&] { lease.release(); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_THAT(error.what(), HasSubstr("fallen off the bus"));
  ASSERT_TRUE(record());

  gpu_->its_refusals.clear();
  const Lease next = book().acquire("GPU-0");
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_P(LeasePromises, ADriverThatFalselyReportsSuccessIsDetected) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  gpu_->it_ignores = true;
  EXPECT_THAT(failure_of([&] { lease.release(); }).what(), HasSubstr("the driver reports 150 W after it was set"));
  EXPECT_TRUE(record());
}

TEST_P(LeasePromises, OneSettingThatCannotBePutBackDoesNotKeepTheOthersFromIt) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz});
  gpu_->its_refusals["unlock"] = Failure{Reason::unknown, {}};
  EXPECT_THROW(lease.release(), Error);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_TRUE(record());
}

TEST_P(LeasePromises, ADestroyedLeaseLogsWhatItCouldNotPutBack) {
  std::string logged;
  const log::ScopedSink sink{[&](log::Level, std::string_view line) { logged += line; }};
  {
    Lease lease = book().acquire("GPU-0");
    lease.set_power_limit(150_W);
    gpu_->its_refusals["power"] = Failure{Reason::lost, {}};
  }
  EXPECT_THAT(logged, HasSubstr("GPU 0 (Tesla V100) could not be put back: power limit 250 W: device lost"));
}

TEST_P(LeasePromises, RestoringKeepsTheLeaseAndReadsTheSettingsAgain) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease.restore();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_TRUE(record()->found.empty());
  gpu_->its_limits.current = 200_W;  // an operator, meanwhile
  lease.set_power_limit(150_W);
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, 200_W);
}

TEST_P(LeasePromises, AnAssignedLeaseReleasesWhatWasHeldBefore) {
  LeaseBook leases = book();
  Lease lease = leases.acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease = leases.acquire("GPU-1");
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_NO_THROW(static_cast<void>(leases.acquire("GPU-0")));
}

TEST_P(LeasePromises, AnExpiredLeaseIsRestoredForTheNextHolder) {
  Lease lease = book().acquire("GPU-0", 60_s);
  lease.set_power_limit(150_W);
  advance(61_s);
  Lease next = book().acquire("GPU-0", 60_s);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  next.set_power_limit(180_W);

  const Error error = failure_of([&] { lease.set_power_limit(140_W); });
  EXPECT_EQ(error.kind(), ErrorKind::timeout);
  EXPECT_THAT(error.what(), HasSubstr("not renewed for 60 s"));
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, 180_W) << "an overdue holder must not touch another holder's setting";
}

TEST_P(LeasePromises, SettingRenewsToo) {
  Lease lease = book().acquire("GPU-0", 60_s);
  for (int i = 0; i < 5; ++i) {
    advance(50_s);
    EXPECT_NO_THROW(lease.set_power_limit(Watts{150.0 + i}));
  }
}

TEST_P(LeasePromises, AReleasedLeaseRefuses) {
  Lease lease = book().acquire("GPU-0");
  lease.release();
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::invalid_argument);
  EXPECT_NO_THROW(lease.release());
}

TEST_P(LeasePromises, AForkedChildCanNeitherSetNorReleaseNorKeepItsParentsLease) {
  auto lease = std::make_unique<Lease>(book().acquire("GPU-0"));
  lease->set_power_limit(150_W);
  const pid_t child = ::fork();
  if (child == 0) {
    int failed = 0;
    try {
      lease->set_power_limit(120_W);
      failed = 1;
    } catch (const Error& error) {
      failed = error.kind() == ErrorKind::conflict ? 0 : 2;
    }
    lease.reset();
    failed += gpu_->its_limits.current == 150_W ? 0 : 4;
    failed += record() ? 0 : 8;
    try {
      static_cast<void>(book().acquire("GPU-0"));
      failed += 16;
    } catch (const Error& error) {
      failed += error.kind() == ErrorKind::conflict ? 0 : 32;
    }
    ::_exit(failed);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NO_THROW(lease->set_power_limit(140_W));
}

TEST_P(LeasePromises, ASecondProcessLearnsTheHoldersName) {
  const Lease lease = book().acquire("GPU-0");
  const std::string said = failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); });
  EXPECT_THAT(said, StartsWith("conflict: GPU 0 (Tesla V100) is leased by "));
  EXPECT_THAT(said, HasSubstr(fmt::format("process {}", ::getpid())));
  EXPECT_EQ(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-1")); }), "");
}

TEST_P(LeasePromises, RenewingKeepsALease) {
  Lease lease = book().acquire("GPU-0", 60_s);
  lease.set_power_limit(150_W);
  for (int i = 0; i < 129; ++i) {
    advance(1_s);
    lease.renew();
  }
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
  EXPECT_THAT(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); }), StartsWith("conflict: "));
  EXPECT_NO_THROW(lease.set_power_limit(140_W));
}

// If a driver hangs within a change, other processes do not wait for it once the lease has run out.
TEST_P(LeasePromises, AChangeThatEndsTooLateIsUndone) {
  Lease lease = book().acquire("GPU-0", 60_s);
  gpu_->it_hangs = [&] { advance(61_s); };
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_FALSE(record());
}

TEST_P(LeasePromises, RefusesMissingGpusAndInvalidValues) {
  EXPECT_EQ(failure_of([&] { static_cast<void>(book().acquire("GPU-7")); }).kind(), ErrorKind::not_found);
  EXPECT_EQ(failure_of([&] { static_cast<void>(book().acquire("GPU-0", 0_s)); }).kind(), ErrorKind::invalid_argument);
  EXPECT_FALSE(record());
}

}  // namespace
}  // namespace zeus::test
