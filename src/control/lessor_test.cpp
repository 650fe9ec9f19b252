#include "control/lessor.hpp"

#include "control/open_lease_book.hpp"
#include "tests/support/leased_gpus.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Log = std::vector<std::string>;

// The lease of a lessor that only writes down what it is asked to do.
class LoggedLease final : public LeaseBacking {
 public:
  LoggedLease(std::shared_ptr<device::Gpu> gpu, std::shared_ptr<Log> log)
      : gpu_{std::move(gpu)}, log_{std::move(log)} {}

  [[nodiscard]] const device::Gpu& gpu() const override { return *gpu_; }
  [[nodiscard]] std::string name() const override { return "GPU 0 (of a lessor)"; }
  PowerSetting set_power_limit(Watts limit) override {
    log_->push_back("power");
    return {limit, limit / 2};
  }
  ClockSetting lock_clocks(ClockDomain, ClockRange range) override {
    log_->push_back("lock");
    return {range, std::optional{range}, 900_MHz};
  }
  void unlock_clocks(ClockDomain) override { log_->push_back("unlock"); }
  Reading<bool> set_persistence_mode(bool enabled) override {
    log_->push_back("persistence");
    return enabled;
  }
  [[nodiscard]] std::string overruled() override { return "by another process"; }
  void restore() override { log_->push_back("restore"); }
  void renew() override { log_->push_back("renew"); }
  void release() override {
    if (!released_) {
      log_->push_back("release");
    }
    released_ = true;
  }

 private:
  std::shared_ptr<device::Gpu> gpu_;
  std::shared_ptr<Log> log_;
  bool released_ = false;
};

class LoggingLessor final : public Lessor {
 public:
  [[nodiscard]] bool offers(std::string_view uuid) const override { return uuid == "GPU-0"; }
  [[nodiscard]] std::unique_ptr<LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term, Lends lends,
                                                   LessorPatience /*patience*/) override {
    if (error) {
      throw Error{*error};
    }
    terms.push_back(term);
    lent.push_back(lends);
    return std::make_unique<LoggedLease>(gpu.gpu, log);
  }
  [[nodiscard]] bool has_one(std::string_view) override { return !terms.empty(); }

  std::shared_ptr<Log> log = std::make_shared<Log>();
  std::vector<Seconds> terms;
  std::vector<Lends> lent;
  std::optional<Error> error;
};

class LessorTest : public test::LeasedGpus {
 protected:
  LeaseBook lessee() {
    return LeaseBook{ledger(), {discovered(gpu_), discovered(other_gpu_)}, guardian_, clock_, Lends::nothing, lessor_};
  }

  std::shared_ptr<LoggingLessor> lessor_ = std::make_shared<LoggingLessor>();
};

TEST_F(LessorTest, OfferedGpusAreLeasedFromItWithoutARecordOrAGuardianHere) {
  guardian_->error.emplace(ErrorKind::unavailable, "no guardian");
  EXPECT_FALSE(lessee().has_one("GPU-0"));
  {
    Lease lease = lessee().acquire("GPU-0", 30_s);
    EXPECT_EQ(&lease.gpu(), gpu_.get());
    EXPECT_EQ(lease.set_power_limit(150_W).enforced, 75_W);
    EXPECT_EQ(lease.lock_clocks(ClockDomain::sm, {900_MHz, 900_MHz}).running, 900_MHz);
    lease.unlock_clocks(ClockDomain::sm);
    EXPECT_EQ(lease.set_persistence_mode(true), true);
    EXPECT_EQ(lease.overruled(), "by another process");
    lease.restore();
    lease.renew();
    EXPECT_TRUE(lessee().has_one("GPU-0"));
  }
  EXPECT_THAT(lessor_->terms, ElementsAre(30_s));
  EXPECT_THAT(*lessor_->log, ElementsAre("power", "lock", "unlock", "persistence", "restore", "renew", "release"));
  EXPECT_THAT(gpu_->log, IsEmpty());
  EXPECT_THAT(folder_.list(""), IsEmpty());
  EXPECT_EQ(guardian_->watches, 0);
}

TEST_F(LessorTest, TheLessorLearnsWhetherALeaseIsLentToDescendants) {
  LeaseBook lending{ledger(), {discovered(gpu_)}, guardian_, clock_, Lends::to_descendants, lessor_};
  static_cast<void>(lending.acquire("GPU-0"));
  static_cast<void>(lessee().acquire("GPU-0"));
  EXPECT_THAT(lessor_->lent, ElementsAre(Lends::to_descendants, Lends::nothing));
}

TEST_F(LessorTest, AGpuThatCannotBeSetFromHereIsLeasedFromItAllTheSame) {
  device::DiscoveredGpu only_read = discovered(gpu_);
  only_read.control = nullptr;
  LeaseBook leases{ledger(), {only_read}, guardian_, clock_, Lends::nothing, lessor_};
  EXPECT_NO_THROW(static_cast<void>(leases.acquire("GPU-0")));
}

TEST_F(LessorTest, OtherGpusAreLeasedFromThisProcess) {
  Lease lease = lessee().acquire("GPU-1");
  lease.set_power_limit(150_W);
  EXPECT_THAT(*lessor_->log, IsEmpty());
  EXPECT_EQ(other_gpu_->its_limits.current, 150_W);
  EXPECT_TRUE(ledger().read("GPU-1"));
  EXPECT_TRUE(lessee().has_one("GPU-1"));
}

TEST_F(LessorTest, ItsRefusalIsTheAnswer) {
  lessor_->error.emplace(ErrorKind::conflict, "GPU 0 is leased by user 7");
  EXPECT_EQ(failure_of([&] { static_cast<void>(lessee().acquire("GPU-0")); }).message(), "GPU 0 is leased by user 7");
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(LessorTest, AForkedChildCanNeitherSetNorEndItsParentsLease) {
  auto lease = std::make_unique<Lease>(lessee().acquire("GPU-0"));
  EXPECT_THAT(failure_elsewhere([&] { lease->set_power_limit(120_W); }),
              StartsWith("conflict: the lease of GPU 0 (of a lessor) belongs to process"));
  EXPECT_THAT(failure_elsewhere([&] { lease->restore(); }), StartsWith("conflict: "));
  EXPECT_THAT(failure_elsewhere([&] { lease->release(); }), StartsWith("conflict: "));
  EXPECT_EQ(failure_elsewhere([&] {
              lease.reset();
              if (!lessor_->log->empty()) {
                throw Error{ErrorKind::internal, "it was released"};
              }
            }),
            "");
  lease.reset();
  EXPECT_THAT(*lessor_->log, ElementsAre("release"));
}

TEST_F(LessorTest, IfNothingCanBeLeasedHereARequestGetsTheReason) {
  const Environment no_guardian{{{"ZEUS_STATE_DIR", folder_.root().string()}}};
  const std::vector gpus{discovered(gpu_), discovered(other_gpu_)};
  EXPECT_EQ(failure_of([&] {
              open_lease_book(no_guardian, machine_, temporary_.path(), gpus, clock_, Lends::nothing);
            }).kind(),
            ErrorKind::not_found);
  LeaseBook leases = open_lease_book(no_guardian, machine_, temporary_.path(), gpus, clock_, Lends::nothing, lessor_);
  EXPECT_NO_THROW(static_cast<void>(leases.acquire("GPU-0")));
  EXPECT_FALSE(leases.has_one("GPU-1"));
  EXPECT_THAT(failure_of([&] { static_cast<void>(leases.acquire("GPU-1")); }).what(),
              HasSubstr("is not installed (tried"));
}

}  // namespace
}  // namespace zeus::control
