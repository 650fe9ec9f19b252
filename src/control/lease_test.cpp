#include "control/lease.hpp"

#include "base/log.hpp"
#include "control/lease_book.hpp"
#include "tests/support/leased_gpus.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

namespace zeus::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using LeaseTest = test::LeasedGpus;

// A folder for all users, in which one of them (nobody) has left a record.
class SharedFolder : public test::LeasedGpus {
 protected:
  static constexpr uid_t nobody = 65'534;

  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can give files away";
    }
    LeasedGpus::SetUp();
    ASSERT_EQ(::chmod(folder_.root().c_str(), 01777), 0);
    LeaseRecord forged{{77, clock_.now() + 60_s, {1, 5, "python3"}, {}}, "GPU-0", "GPU 0", "this-boot"};
    forged.found.power_limit = 100_W;
    ledger().write(forged);
    ASSERT_EQ(::chown(ledger().path("GPU-0").c_str(), nobody, nobody), 0);
  }
};

TEST_F(SharedFolder, WhatAnotherUserLeftIsNotObeyedAndKeepsNobodyOut) {
  const Watts found = *gpu_->its_limits.current;
  Lease lease = book().acquire("GPU-0");
  static_cast<void>(lease.set_power_limit(150_W));
  EXPECT_EQ(record()->found.power_limit, found);
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, found);
}

TEST_F(SharedFolder, AnotherUserWhoHoldsALeaseIsAConflict) {
  std::array<int, 2> held{};
  ASSERT_EQ(::pipe(held.data()), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const auto lock = ledger().lock("GPU-0");
    {
      const auto work = lock->begin_work(clock_, 1_s);
      lock->hold(77);
    }
    static_cast<void>(::write(held[1], "h", 1));
    ::pause();
    ::_exit(0);
  }
  ::close(held[1]);
  char byte = 0;
  EXPECT_EQ(::read(held[0], &byte, 1), 1);
  const Error error = failure_of([&] { book().acquire("GPU-0"); });
  EXPECT_EQ(error.kind(), ErrorKind::conflict);
  EXPECT_THAT(error.message(), HasSubstr(fmt::format("leased by process {} of another user", other)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::close(held[0]);
}

TEST_F(LeaseTest, WhoeverMakesProgressSeesToItThatSomebodyWatches) {
  Lease lease = book().acquire("GPU-0");
  lease.renew();
  const int before = guardian_->watches;
  lease.renew();
  EXPECT_EQ(guardian_->watches, before) << "not each time";
  clock_.advance(60_ms);
  lease.renew();
  EXPECT_EQ(guardian_->watches, before + 1);
  guardian_->error = Error{ErrorKind::unavailable, "nobody watches"};
  clock_.advance(60_ms);
  EXPECT_THROW(lease.renew(), Error);
}

TEST_F(LeaseTest, TakingALeaseChangesNothing) {
  Lease lease = book().acquire("GPU-0");
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_TRUE(record()->found.empty());
  lease.release();
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_FALSE(record());
}

// What was left on the others is put back by the guardian that is started, and by whoever takes a lease of them.
TEST_F(LeaseTest, TakingALeaseWorksOnThatGpuAlone) {
  for (const char* gpu : {"GPU-0", "GPU-1"}) {
    LeaseRecord left{{77, clock_.now() + 60_s, {1, 5, "python3"}, {}}, gpu, gpu, "this-boot"};
    left.found.power_limit = 220_W;
    ledger().write(left);
  }
  other_gpu_->it_hangs = [] { ADD_FAILURE() << "the other GPU was set"; };
  const Lease lease = book().acquire("GPU-0");
  EXPECT_EQ(gpu_->its_limits.current, 220_W);
  EXPECT_THAT(other_gpu_->log, IsEmpty());
  EXPECT_TRUE(ledger().read("GPU-1"));
  other_gpu_->it_hangs = {};
  const Lease other = book().acquire("GPU-1");
  EXPECT_EQ(other_gpu_->its_limits.current, 220_W);
}

TEST_F(LeaseTest, WhoHasNoPatienceIsToldAtOnceWhoWorksOnTheGpu) {
  const auto lock = ledger().lock("GPU-0");
  const auto work = lock->begin_work(clock_, 1_s);
  const Instant before = clock_.now();
  EXPECT_THAT(failure_elsewhere([&] {
                Error refused =
                    failure_of([&] { static_cast<void>(book().acquire("GPU-0", 60_s, {.patience = 0_s})); });
                const Error unknown = failure_of([&] { static_cast<void>(book().has_one("GPU-0", 0_s)); });
                if (clock_.now() != before || unknown.kind() != refused.kind()) {
                  throw Error{ErrorKind::internal, "it has waited"};
                }
                throw refused;
              }),
              StartsWith("timeout: "));
}

TEST_F(LeaseTest, PutsBackWhatWasFoundAndNotTheMaximum) {
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

TEST_F(LeaseTest, ClocksThatWereLockedAreLockedToTheSameAgain) {
  gpu_->its_locks[ClockDomain::graphics] = ClockRange{500_MHz, 1200_MHz};
  Lease lease = book().acquire("GPU-0");
  lease.unlock_clocks(ClockDomain::graphics);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
  lease.release();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], (ClockRange{500_MHz, 1200_MHz}));
}

TEST_F(LeaseTest, ADriverThatDoesNotTellItsLocksGetsItsClocksFreed) {
  gpu_->it_tells_locks = false;
  Lease lease = book().acquire("GPU-0");
  const ClockSetting setting = lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz});
  EXPECT_FALSE(setting.locked_to);
  EXPECT_EQ(*setting.running, 1380_MHz);
  lease.release();
  EXPECT_THAT(gpu_->log, ElementsAre("lock sm 900-900", "unlock sm"));
}

TEST_F(LeaseTest, WhatTheLeaseDidNotTouchIsLeftAlone) {
  gpu_->its_locks[ClockDomain::graphics] = ClockRange{500_MHz, 1200_MHz};
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease.release();
  EXPECT_THAT(gpu_->log, ElementsAre("power 150", "power 250"));
}

TEST_F(LeaseTest, WhatIsFoundIsWrittenDownBeforeTheFirstChange) {
  Lease lease = book().acquire("GPU-0");
  gpu_->its_refusals["power"] = Failure{Reason::timeout, {}};  // who knows whether it was set
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(record()->found.power_limit, 250_W);
}

// While it lives no file of this process can grow, as on a disk that is full.
class FullDisk {
 public:
  FullDisk() : former_action_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit none{0, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    static_cast<void>(std::signal(SIGXFSZ, former_action_));
  }

 private:
  rlimit former_{};
  void (*former_action_)(int);
};

TEST_F(LeaseTest, WhenItCannotBeWrittenDownNothingIsChanged) {
  Lease lease = book().acquire("GPU-0");
  std::optional<Error> error;
  {
    const FullDisk full;
    error = failure_of([&] { lease.set_power_limit(150_W); });
    EXPECT_THROW(lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz}), Error);
    EXPECT_THROW(static_cast<void>(lease.set_persistence_mode(true)), Error);
    EXPECT_THROW(static_cast<void>(book().acquire("GPU-1")), Error);
  }
  EXPECT_THAT(error->what(), HasSubstr("cannot write " + folder_.resolve("GPU-0.lease.json").string()));
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_THAT(folder_.list(""), ElementsAre("GPU-0.lease.json", "GPU-0.lock"));
  EXPECT_NO_THROW(lease.set_power_limit(150_W));
  EXPECT_NO_THROW(static_cast<void>(book().acquire("GPU-1")));
}

TEST_F(LeaseTest, WhenALeaseHasEndedNothingIsLeftInTheFolder) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  EXPECT_THAT(folder_.list(""), ElementsAre("GPU-0.lease.json", "GPU-0.lock"));
  lease.release();
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(LeaseTest, WhatIsEnforcedIsReported) {
  gpu_->its_enforced_at_most = 180_W;
  Lease lease = book().acquire("GPU-0");
  const PowerSetting setting = lease.set_power_limit(220_W);
  EXPECT_EQ(setting.requested, 220_W);
  EXPECT_EQ(setting.enforced, 180_W);
}

TEST_F(LeaseTest, ARefusedSettingIsAnErrorAndLeavesNothingToPutBack) {
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

TEST_F(LeaseTest, WhatCannotBeReadIsNotChanged) {
  gpu_->its_limits.current = Reason::unsupported;
  gpu_->its_persistence = Reason::permission;
  Lease lease = book().acquire("GPU-0");
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::unavailable);
  EXPECT_EQ(failure_of([&] { static_cast<void>(lease.set_persistence_mode(true)); }).kind(),
            ErrorKind::permission_denied);
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_F(LeaseTest, AGpuLostInMidLeaseIsSaidAndItsRecordStaysForTheNextWhoTries) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  gpu_->its_refusals["power"] = Failure{Reason::lost, "the GPU has fallen off the bus"};
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(140_W); }).kind(), ErrorKind::unavailable);
  const Error error = failure_of([&] { lease.release(); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_THAT(error.what(), HasSubstr("fallen off the bus"));
  ASSERT_TRUE(record());
  EXPECT_EQ(ledger().standing(*record(), clock_.now()), Standing::abandoned);

  gpu_->its_refusals.clear();
  const Lease next = book().acquire("GPU-0");
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(LeaseTest, ADriverThatOnlySaysThatItPutBackIsFoundOut) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  gpu_->it_ignores = true;
  EXPECT_THAT(failure_of([&] { lease.release(); }).what(), HasSubstr("the driver says 150 W after it was set"));
  EXPECT_TRUE(record());
}

TEST_F(LeaseTest, OneSettingThatCannotBePutBackDoesNotKeepTheOthersFromIt) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz});
  gpu_->its_refusals["unlock"] = Failure{Reason::unknown, {}};
  EXPECT_THROW(lease.release(), Error);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_TRUE(record());
}

TEST_F(LeaseTest, ADestroyedLeaseLogsWhatItCouldNotPutBack) {
  std::string logged;
  const log::ScopedSink sink{[&](log::Level, std::string_view line) { logged += line; }};
  {
    Lease lease = book().acquire("GPU-0");
    lease.set_power_limit(150_W);
    gpu_->its_refusals["power"] = Failure{Reason::lost, {}};
  }
  EXPECT_THAT(logged, HasSubstr("GPU 0 (Tesla V100) could not be put back: power limit 250 W: device lost"));
}

TEST_F(LeaseTest, RestoringKeepsTheLeaseAndLooksAnewAtWhatIsThere) {
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

TEST_F(LeaseTest, ASecondHolderIsToldWhoHasIt) {
  const Lease lease = book().acquire("GPU-0", 60_s);
  clock_.advance(10_s);
  const std::string said = failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); });
  EXPECT_THAT(said, HasSubstr("conflict: GPU 0 (Tesla V100) is leased by process " + std::to_string(::getpid())));
  EXPECT_THAT(said, HasSubstr("for 50 s more"));
  EXPECT_EQ(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-1")); }), "");
}

TEST_F(LeaseTest, AnAssignedLeaseReleasesWhatWasHeldBefore) {
  LeaseBook leases = book();
  Lease lease = leases.acquire("GPU-0");
  lease.set_power_limit(150_W);
  lease = leases.acquire("GPU-1");
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_NO_THROW(static_cast<void>(leases.acquire("GPU-0")));
}

TEST_F(LeaseTest, ALeaseThatIsNotRenewedCanBeTakenByTheNextWhoFindsTheGpuPutBack) {
  Lease lease = book().acquire("GPU-0", 60_s);
  lease.set_power_limit(150_W);
  clock_.advance(61_s);
  Lease next = book().acquire("GPU-0", 60_s);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  next.set_power_limit(180_W);

  const Error error = failure_of([&] { lease.set_power_limit(140_W); });
  EXPECT_EQ(error.kind(), ErrorKind::timeout);
  EXPECT_THAT(error.what(), HasSubstr("not renewed for 60 s"));
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, 180_W) << "an overdue holder must not touch what is somebody else's";
}

// A driver that hangs, or a process that is stopped, within a change: others do not wait for it once its time is up.
TEST_F(LeaseTest, AChangeThatEndsTooLateIsUndone) {
  Lease lease = book().acquire("GPU-0", 60_s);
  gpu_->it_hangs = [&] { clock_.advance(61_s); };
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_FALSE(record());

  Lease another = book().acquire("GPU-0", 60_s);
  gpu_->it_hangs = [&] {
    clock_.advance(61_s);
    folder_.remove_durably("GPU-0.lease.json");  // as by the guardian, which has put it back before the change came
  };
  EXPECT_EQ(failure_of([&] { another.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(LeaseTest, RenewingKeepsALeaseAndWritesOnlyWhenHalfOfTheTermIsOver) {
  Lease lease = book().acquire("GPU-0", 60_s);
  const int written = guardian_->notices;
  for (int i = 0; i < 29; ++i) {
    clock_.advance(1_s);
    lease.renew();
  }
  EXPECT_EQ(guardian_->notices, written);
  for (int i = 0; i < 100; ++i) {
    clock_.advance(1_s);
    lease.renew();
  }
  EXPECT_LE(guardian_->notices, written + 4);
  EXPECT_THAT(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); }), StartsWith("conflict: "));
}

TEST_F(LeaseTest, SettingRenewsToo) {
  Lease lease = book().acquire("GPU-0", 60_s);
  for (int i = 0; i < 5; ++i) {
    clock_.advance(50_s);
    EXPECT_NO_THROW(lease.set_power_limit(Watts{150.0 + i}));
  }
}

TEST_F(LeaseTest, AStepOfTheWallClockChangesNothing) {
  Lease lease = book().acquire("GPU-0", 60_s);
  lease.set_power_limit(150_W);
  clock_.step_wall(Seconds{86400.0 * 365});
  EXPECT_THAT(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); }), StartsWith("conflict: "));
  clock_.step_wall(Seconds{-86400.0 * 3650});
  EXPECT_NO_THROW(lease.set_power_limit(140_W));
}

TEST_F(LeaseTest, AReleasedLeaseRefuses) {
  Lease lease = book().acquire("GPU-0");
  lease.release();
  EXPECT_EQ(failure_of([&] { lease.set_power_limit(150_W); }).kind(), ErrorKind::invalid_argument);
  EXPECT_NO_THROW(lease.release());
}

TEST_F(LeaseTest, NothingIsDoneWithoutAGuardian) {
  guardian_->error.emplace(ErrorKind::unavailable, "no guardian");
  EXPECT_THROW(static_cast<void>(book().acquire("GPU-0")), Error);
  EXPECT_FALSE(record());
  guardian_->error.reset();
  Lease lease = book().acquire("GPU-0");
  guardian_->error.emplace(ErrorKind::unavailable, "it died and cannot be started again");
  EXPECT_THROW(lease.set_power_limit(150_W), Error);
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_F(LeaseTest, RecordsAreForTheirOwnerOnly) {
  const Lease lease = book().acquire("GPU-0");
  for (const char* file : {"GPU-0.lease.json", "GPU-0.lock"}) {
    struct stat status {};
    ASSERT_EQ(::stat(folder_.resolve(file).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << file;
  }
}

TEST_F(LeaseTest, AForkedChildCanNeitherSetNorReleaseNorKeepWhatItsParentLeased) {
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
    failed += ledger().read("GPU-0") ? 0 : 8;
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

}  // namespace
}  // namespace zeus::control
