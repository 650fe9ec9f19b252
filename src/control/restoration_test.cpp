#include "control/restoration.hpp"

#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace zeus::control {
namespace {

using Result = Restoration::Result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RestorationTest : public ::testing::Test {
 protected:
  RestorationTest() {
    std::filesystem::create_directories(folder_.root());
    machine_.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
    gpu_->its_limits.current = 120_W;
  }

  // The record of a process that has died with a lease: no process holds its lock.
  static LeaseRecord left_behind(const std::string& gpu = "GPU-0") {
    LeaseRecord record{{77, Instant{60'000'000'000}, {1, 5, "python3"}, {}}, gpu, "GPU 0 (Tesla V100)", "this-boot"};
    record.found.power_limit = 250_W;
    return record;
  }

  std::vector<Restoration> restore(const std::optional<std::string>& only = std::nullopt) {
    return restore_abandoned(ledger_, gpus_, clock_, only);
  }
  Restoration only_restoration() {
    std::vector<Restoration> all = restore();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Restoration{} : all[0];
  }

  test::TemporaryFolder temporary_;
  FileTree folder_{temporary_.path() / "state"};
  FileTree machine_{temporary_.path() / "machine"};
  VirtualClock clock_;
  std::shared_ptr<test::SettableGpu> gpu_ = std::make_shared<test::SettableGpu>(0);
  std::vector<device::DiscoveredGpu> gpus_{test::discovered(gpu_)};
  Ledger ledger_{folder_, machine_};

 private:
  void SetUp() override { ledger_ = Ledger{folder_, machine_}; }
};

TEST_F(RestorationTest, IgnoresRecordsOfAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  std::filesystem::permissions(folder_.root(), std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
  ledger_.write(left_behind());
  ASSERT_EQ(::chown(ledger_.path("GPU-0").c_str(), 65'534, 65'534), 0);
  const Restoration forged = only_restoration();
  EXPECT_EQ(forged.result, Result::failed);
  EXPECT_THAT(forged.why, HasSubstr("is not trusted: it belongs to user 65534"));
  EXPECT_EQ(gpu_->its_limits.current, 120_W);
  EXPECT_TRUE(std::filesystem::exists(ledger_.path("GPU-0")));
}

TEST_F(RestorationTest, NothingLeftIsNothingToDo) {
  EXPECT_THAT(restore(), IsEmpty());
}

// The record names process 1, which lives: a reused process ID must not keep a GPU from being put back.
TEST_F(RestorationTest, RestoresADeadHoldersSettingsEvenIfItsProcessIdIsReused) {
  ledger_.write(left_behind());
  EXPECT_EQ(only_restoration().result, Result::restored);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_THAT(restore(), IsEmpty());
}

TEST_F(RestorationTest, ARecordOfAnEarlierBootIsDroppedAndNotApplied) {
  LeaseRecord record = left_behind();
  record.boot = "an-earlier-boot";
  ledger_.write(record);
  EXPECT_EQ(only_restoration().result, Result::past);
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_THAT(restore(), IsEmpty());
}

TEST_F(RestorationTest, ALivingHolderIsLeftAloneUntilItsTimeIsUp) {
  const LeaseRecord record = left_behind();
  ledger_.write(record);
  {
    const auto lock = ledger_.lock("GPU-0");
    const auto work = lock->begin_work(clock_, 1_s);
    lock->hold(record.lease);
    // Looking does not disturb a process that works on it.
    EXPECT_EQ(only_restoration().result, Result::held);
  }
  EXPECT_EQ(only_restoration().result, Result::held);
  EXPECT_THAT(gpu_->log, IsEmpty());
  clock_.advance(61_s);
  EXPECT_EQ(only_restoration().result, Result::restored);
  EXPECT_THAT(gpu_->log, ElementsAre("power 250"));
}

TEST_F(RestorationTest, AGpuThatCannotBeSeenKeepsItsRecord) {
  ledger_.write(left_behind("GPU-elsewhere"));
  const Restoration restoration = only_restoration();
  EXPECT_EQ(restoration.result, Result::failed);
  EXPECT_EQ(restoration.why, "this GPU cannot be seen from here");
  EXPECT_THAT(ledger_.gpus(), ElementsAre("GPU-elsewhere"));
}

TEST_F(RestorationTest, ForgettingRemovesARecordUnlessTheGpuIsHeldNow) {
  ledger_.write(left_behind("GPU-elsewhere"));
  Restoration restoration = only_restoration();
  {
    const auto lock = ledger_.lock("GPU-elsewhere");
    {
      const auto work = lock->begin_work(clock_, 1_s);
      lock->hold(77);
    }
    forget(ledger_, restoration, clock_);
    EXPECT_EQ(restoration.result, Result::held);
    EXPECT_THAT(ledger_.gpus(), ElementsAre("GPU-elsewhere"));
  }
  clock_.advance(61_s);
  forget(ledger_, restoration, clock_);
  EXPECT_EQ(restoration.result, Result::forgotten);
  EXPECT_THAT(ledger_.gpus(), IsEmpty());
}

TEST_F(RestorationTest, AFailedRestorationKeepsItsRecordAndLeavesTheOthersAlone) {
  auto second = std::make_shared<test::SettableGpu>(1);
  second->its_limits.current = 120_W;
  gpus_.push_back(test::discovered(second));
  ledger_.write(left_behind("GPU-0"));
  ledger_.write(left_behind("GPU-1"));
  gpu_->its_refusals["power"] = Failure{Reason::permission, "settings need root"};
  const std::vector<Restoration> all = restore();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].result, Result::failed);
  EXPECT_THAT(all[0].why, HasSubstr("not permitted (settings need root)"));
  EXPECT_EQ(all[1].result, Result::restored);
  EXPECT_EQ(second->its_limits.current, 250_W);
  EXPECT_THAT(ledger_.gpus(), ElementsAre("GPU-0"));
}

TEST_F(RestorationTest, OneThatHangsHoldsUpNoOtherInRealTime) {
  auto second = std::make_shared<test::SettableGpu>(1);
  second->its_limits.current = 120_W;
  gpus_.push_back(test::discovered(second));
  ledger_.write(left_behind("GPU-0"));
  ledger_.write(left_behind("GPU-1"));
  SystemClock real;
  gpu_->it_hangs = [&] {
    const Instant until = real.now() + 20_s;
    while (ledger_.read("GPU-1") && real.now() < until) {
      real.sleep_until(real.now() + 1_ms);
    }
    EXPECT_FALSE(ledger_.read("GPU-1")) << "it waits for this one";
  };
  EXPECT_EQ(restore().size(), 2U);
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_EQ(second->its_limits.current, 250_W);
}

TEST_F(RestorationTest, OneGpuAloneCanBeAskedFor) {
  ledger_.write(left_behind("GPU-0"));
  ledger_.write(left_behind("GPU-1"));
  EXPECT_EQ(restore("GPU-0").size(), 1U);
  EXPECT_THAT(ledger_.gpus(), ElementsAre("GPU-1"));
}

TEST_F(RestorationTest, AnUnreadableRecordIsReportedAndNothingIsGuessed) {
  const std::string whole = to_json(left_behind());
  for (const std::string& damaged :
       {std::string{}, whole.substr(0, whole.size() / 2), std::string(200, '\0'), std::string{"{}"}}) {
    folder_.write_durably("GPU-0.lease.json", damaged);
    const Restoration restoration = only_restoration();
    EXPECT_EQ(restoration.result, Result::failed);
    EXPECT_THAT(restoration.why, HasSubstr("GPU-0.lease.json cannot be read, so nothing was changed"));
    EXPECT_THAT(restoration.why, HasSubstr("then remove the file"));
    EXPECT_THAT(gpu_->log, IsEmpty());
    EXPECT_THAT(ledger_.gpus(), ElementsAre("GPU-0"));
  }
}

TEST_F(RestorationTest, ARecordUnderAnotherGpusNameIsNotApplied) {
  folder_.write_durably("GPU-0.lease.json", to_json(left_behind("GPU-1")));
  EXPECT_EQ(only_restoration().result, Result::failed);
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_F(RestorationTest, ASettingThatIsAlreadyAsFoundIsNotSetAgain) {
  gpu_->its_limits.current = 250_W;
  gpu_->its_refusals["power"] = Failure{Reason::permission, {}};
  ledger_.write(left_behind());
  EXPECT_EQ(only_restoration().result, Result::restored);
  EXPECT_THAT(gpu_->log, IsEmpty());
}

TEST_F(RestorationTest, PersistenceModeComesLastSinceWithoutItTheDriverForgets) {
  LeaseRecord record = left_behind();
  record.found.clocks[ClockDomain::sm] = {};
  record.found.persistence_mode = false;
  gpu_->it_tells_locks = false;
  gpu_->its_persistence = true;
  ledger_.write(record);
  EXPECT_EQ(only_restoration().result, Result::restored);
  EXPECT_THAT(gpu_->log, ElementsAre("unlock sm", "power 250", "persistence off"));
}

TEST_F(RestorationTest, RestoringALeaseHeldForAClientLeavesANote) {
  LeaseRecord record = left_behind();
  record.client = LeaseClient{.user = 1000};
  ledger_.write(record);
  EXPECT_EQ(only_restoration().result, Result::restored);
  const std::optional<LeaseRecord> note = ledger_.note("GPU-0");
  ASSERT_TRUE(note);
  EXPECT_EQ(to_text(*note), "process 1 (python3) for user 1000");
  EXPECT_EQ(note->found, record.found);
  EXPECT_THAT(restore(), IsEmpty()) << "a note is no record";
  ledger_.drop_note("GPU-0");
  EXPECT_FALSE(ledger_.note("GPU-0"));
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(RestorationTest, RestoringALeaseWithoutAClientOrChangesLeavesNoNote) {
  ledger_.write(left_behind());
  LeaseRecord untouched = left_behind("GPU-1");
  untouched.client = LeaseClient{.user = 1000};
  untouched.found = {};
  ledger_.write(untouched);
  static_cast<void>(restore());
  EXPECT_FALSE(ledger_.note("GPU-0"));
  EXPECT_FALSE(ledger_.note("GPU-1"));
}

TEST_F(RestorationTest, AnUnreadableNoteIsIgnored) {
  folder_.write_durably("GPU-0.put_back.json", "{\"gp");
  EXPECT_FALSE(ledger_.note("GPU-0"));
  EXPECT_THAT(restore(), IsEmpty());
}

TEST_F(RestorationTest, AUuidCannotLeadOutOfTheFolder) {
  const std::string uuid = "../../etc/GPU 1%";
  ledger_.write(left_behind(uuid));
  EXPECT_THAT(ledger_.gpus(), ElementsAre(uuid));
  EXPECT_THAT(folder_.list(""), ElementsAre("%2e%2e%2f%2e%2e%2fetc%2fGPU%201%25.lease.json"));
}

TEST_F(RestorationTest, RemovesAnUnfinishedFirstRecord) {
  folder_.write_durably("GPU-0.lease.json.4711.3.new", "{\"gp");
  folder_.write_durably("GPU-1.lock", "");
  ledger_.write(left_behind("GPU-2"));
  folder_.write_durably("GPU-2.lease.json.4711.4.new", "");
  EXPECT_THAT(ledger_.begun(), ElementsAre("GPU-0", "GPU-1"));
  clear_begun(ledger_, clock_);
  EXPECT_THAT(folder_.list(""), testing::UnorderedElementsAre("GPU-2.lease.json", "GPU-2.lease.json.4711.4.new"));
}

}  // namespace
}  // namespace zeus::control
