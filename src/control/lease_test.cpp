#include "control/lease.hpp"

#include "base/log.hpp"
#include "control/lease_book.hpp"
#include "tests/support/full_disk.hpp"
#include "tests/support/leased_gpus.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::unique_ptr<test::LeaseStand> local_stand() {
  return std::make_unique<test::LocalStand>();
}
const auto local = testing::Values(test::LeaseStandKind{"records", local_stand});
const auto by_name = [](const auto& info) { return info.param.name; };

}  // namespace
}  // namespace zeus::control

namespace zeus::test {
INSTANTIATE_TEST_SUITE_P(Local, LeasePromises, control::local, control::by_name);
INSTANTIATE_TEST_SUITE_P(Local, SharePromises, control::local, control::by_name);
}  // namespace zeus::test

namespace zeus::control {
namespace {

// A folder for all users, in which one of them (the user `nobody`) has left a record.
class SharedFolder : public test::LeasedGpus {
 protected:
  static constexpr uid_t nobody = 65'534;

  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can give files away";
    }
    ASSERT_EQ(::chmod(folder_.root().c_str(), 01777), 0);
    LeaseRecord forged{{77, clock_.now() + 60_s, {1, 5, "python3"}, {}}, "GPU-0", "GPU 0", "this-boot"};
    forged.found.power_limit = 100_W;
    ledger().write(forged);
    ASSERT_EQ(::chown(ledger().path("GPU-0").c_str(), nobody, nobody), 0);
  }
};

TEST_F(SharedFolder, IgnoresRecordsOfAnotherUserAndStillLeases) {
  const Watts found = *gpu_->its_limits.current;
  Lease lease = book().acquire("GPU-0");
  static_cast<void>(lease.set_power_limit(150_W));
  EXPECT_EQ(record()->found.power_limit, found);
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, found);
}

TEST_F(SharedFolder, ALeaseOfAnotherUserIsAConflict) {
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

TEST_F(LeaseTest, RenewingMakesSureThatAGuardianWatches) {
  Lease lease = book().acquire("GPU-0");
  lease.renew();
  const int before = guardian_->watches;
  lease.renew();
  EXPECT_EQ(guardian_->watches, before) << "not each time";
  clock_.advance(60_ms);
  lease.renew();
  EXPECT_EQ(guardian_->watches, before + 1);
  guardian_->error = Error{ErrorKind::unavailable, "no guardian watches"};
  clock_.advance(60_ms);
  EXPECT_THROW(lease.renew(), Error);
}

// What was left on other GPUs is put back by the guardian that is started, and by the next process that leases them.
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

TEST_F(LeaseTest, WithoutPatienceACallerLearnsAtOnceWhichProcessUsesTheGpu) {
  const auto lock = ledger().lock("GPU-0");
  const auto work = lock->begin_work(clock_, 1_s);
  const Instant before = clock_.now();
  EXPECT_THAT(failure_elsewhere([&] {
                const Error refused =
                    failure_of([&] { static_cast<void>(book().acquire("GPU-0", 60_s, {.patience = 0_s})); });
                const Error unknown = failure_of([&] { static_cast<void>(book().has_one("GPU-0", 0_s)); });
                if (clock_.now() != before || unknown.kind() != refused.kind()) {
                  throw Error{ErrorKind::internal, "it has waited"};
                }
                throw Error{refused};
              }),
              StartsWith("timeout: "));
}

TEST_F(LeaseTest, NothingIsChangedIfTheRecordCannotBeWritten) {
  Lease lease = book().acquire("GPU-0");
  std::optional<Error> error;
  {
    const test::FullDisk full;
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

// Volta and Turing.
TEST_F(LeaseTest, FreeingAllClocksOfAGpuThatLocksNoMemoryClocksLeavesNothingToPutBack) {
  gpu_->it_tells_locks = false;
  gpu_->it_locks_memory_clocks = false;
  Lease lease = book().acquire("GPU-0");
  lease.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
  lease.unlock_all_clocks();
  EXPECT_NO_THROW(lease.release());
  EXPECT_FALSE(record());
}

TEST_F(LeaseTest, AnEndedLeaseLeavesNothingInTheFolder) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  EXPECT_THAT(folder_.list(""), ElementsAre("GPU-0.lease.json", "GPU-0.lock"));
  lease.release();
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(LeaseTest, ASecondHolderLearnsTheHoldersName) {
  const Lease lease = book().acquire("GPU-0", 60_s);
  clock_.advance(10_s);
  const std::string said = failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); });
  EXPECT_THAT(said, HasSubstr("conflict: GPU 0 (Tesla V100) is leased by process " + std::to_string(::getpid())));
  EXPECT_THAT(said, HasSubstr("for 50 s more"));
  EXPECT_EQ(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-1")); }), "");
}

// A driver hangs, or a process is stopped, in the middle of a change: once its time is up, others do not wait for it.
TEST_F(LeaseTest, AChangeThatEndsAfterTheGuardianHasPutBackIsUndone) {
  Lease another = book().acquire("GPU-0", 60_s);
  gpu_->it_hangs = [&] {
    clock_.advance(61_s);
    folder_.remove_durably("GPU-0.lease.json");  // as the guardian does, which put it back before the change came
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

TEST_F(LeaseTest, AStepOfTheWallClockChangesNothing) {
  Lease lease = book().acquire("GPU-0", 60_s);
  lease.set_power_limit(150_W);
  clock_.step_wall(Seconds{86400.0 * 365});
  EXPECT_THAT(failure_elsewhere([&] { static_cast<void>(book().acquire("GPU-0")); }), StartsWith("conflict: "));
  clock_.step_wall(Seconds{-86400.0 * 3650});
  EXPECT_NO_THROW(lease.set_power_limit(140_W));
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

}  // namespace
}  // namespace zeus::control
