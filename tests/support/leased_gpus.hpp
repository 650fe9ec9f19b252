// Two GPUs that this process leases itself, with their own folder of records, a guardian that only counts, and a clock
// that stands still: for tests of leases. One thread, unless a test says otherwise.
#pragma once

#include "base/clock.hpp"
#include "control/guardian.hpp"
#include "control/lease_book.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/lease_promises.hpp"
#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace zeus::test {

struct SilentGuardian final : control::Guardian {
  std::atomic<int> watches = 0;
  std::atomic<int> notices = 0;
  std::optional<Error> error;
  void watch(const std::string& gpu) override {
    EXPECT_FALSE(gpu.empty());  // the thread sanitizer sees a name that another thread writes
    ++watches;
    if (error) {
      throw Error{*error};
    }
  }
  void notice() noexcept override { ++notices; }
};

class LocalStand : public LeaseStand {
 public:
  LocalStand() {
    machine_.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
    std::filesystem::create_directories(folder_.root());
  }

  [[nodiscard]] control::Ledger ledger() const { return control::Ledger{folder_, machine_}; }
  [[nodiscard]] control::LeaseBook book_that(control::Lends lends) {
    return control::LeaseBook{ledger(), {discovered(gpu_), discovered(other_gpu_)}, guardian_, clock_, lends};
  }
  control::LeaseBook book() override { return book_that(control::Lends::nothing); }
  SettableGpu& gpu(int index) override { return index == 0 ? *gpu_ : *other_gpu_; }
  [[nodiscard]] std::optional<control::LeaseRecord> record(const std::string& uuid) const override {
    return ledger().read(uuid);
  }
  void advance(Seconds time) override { clock_.advance(time); }

 protected:
  TemporaryFolder temporary_;
  FileTree folder_{temporary_.path() / "state"};
  FileTree machine_{temporary_.path() / "machine"};
  VirtualClock clock_{Instant{1'000'000'000}};
  std::shared_ptr<SettableGpu> gpu_ = std::make_shared<SettableGpu>(0);
  std::shared_ptr<SettableGpu> other_gpu_ = std::make_shared<SettableGpu>(1);
  std::shared_ptr<SilentGuardian> guardian_ = std::make_shared<SilentGuardian>();
};

// The same as a fixture, for tests of this kind of book only.
class LeasedGpus : public ::testing::Test, protected LocalStand, protected Failures {
 protected:
  using LocalStand::record;
  [[nodiscard]] std::optional<control::LeaseRecord> record() const { return LocalStand::record("GPU-0"); }
};

}  // namespace zeus::test
