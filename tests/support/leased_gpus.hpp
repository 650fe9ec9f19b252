// Two GPUs that can be leased, with a folder of records of their own, a guardian that only counts, and a clock that
// stands still: for tests of leases. One thread, unless a test says otherwise.
#pragma once

#include "base/clock.hpp"
#include "control/guardian.hpp"
#include "control/lease_book.hpp"
#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace zeus::test {

struct SilentGuardian final : control::Guardian {
  std::atomic<int> watches = 0;
  std::atomic<int> notices = 0;
  std::optional<Error> error;
  void watch() override {
    ++watches;
    if (error) {
      throw Error{*error};
    }
  }
  void notice() noexcept override { ++notices; }
};

class LeasedGpus : public ::testing::Test {
 protected:
  LeasedGpus() { machine_.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n"); }

  [[nodiscard]] control::Ledger ledger() const { return control::Ledger{folder_, machine_}; }
  control::LeaseBook book(control::Lends lends = control::Lends::nothing) {
    return control::LeaseBook{ledger(), {discovered(gpu_), discovered(other_gpu_)}, guardian_, clock_, lends};
  }
  [[nodiscard]] std::optional<control::LeaseRecord> record() const { return ledger().read("GPU-0"); }

  // The Error that `action` ends with.
  static Error failure_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing failed";
    return Error{ErrorKind::internal, ""};
  }

  // The same in another process: "conflict: GPU 0 is leased by ..."; nothing when it succeeds there.
  static std::string failure_elsewhere(const std::function<void()>& action) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::string said;
      try {
        action();
      } catch (const Error& error) {
        said = std::string{to_string(error.kind())} + ": " + error.what();
      }
      static_cast<void>(::write(ends[1], said.data(), said.size()));
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string said(4096, ' ');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), said.size()), 0)));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return said;
  }

  TemporaryFolder temporary_;
  FileTree folder_{temporary_.path() / "state"};
  FileTree machine_{temporary_.path() / "machine"};
  VirtualClock clock_{Instant{1'000'000'000}};
  std::shared_ptr<SettableGpu> gpu_ = std::make_shared<SettableGpu>(0);
  std::shared_ptr<SettableGpu> other_gpu_ = std::make_shared<SettableGpu>(1);
  std::shared_ptr<SilentGuardian> guardian_ = std::make_shared<SilentGuardian>();

  void SetUp() override { std::filesystem::create_directories(folder_.root()); }
};

}  // namespace zeus::test
