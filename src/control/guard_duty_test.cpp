#include "control/guard_duty.hpp"

#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace zeus::control {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SettableGpus final : public device::Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "settable"; }
  [[nodiscard]] device::Discovery discover() override {
    if (++discoveries > 1) {
      gpus[1]->its_refusals.clear();  // a driver that was reloaded
    }
    device::Discovery found;
    for (const auto& gpu : gpus) {
      found.gpus.push_back(test::discovered(gpu));
    }
    return found;
  }
  std::vector<std::shared_ptr<test::SettableGpu>> gpus{std::make_shared<test::SettableGpu>(0),
                                                       std::make_shared<test::SettableGpu>(1)};
  std::atomic<int> discoveries = 0;
};

// A holder that has died with leases of both GPUs. It had found them at 220 W and set them to 120 W.
class GuardDutyTest : public ::testing::Test {
 protected:
  GuardDutyTest() {
    std::filesystem::create_directories(folder_.root());
    const pid_t holder = ::fork();
    if (holder == 0) {
      ::_exit(0);
    }
    ::waitpid(holder, nullptr, 0);
    holder_ = {holder, 5, "python3"};
    for (const auto& gpu : backend_.gpus) {
      gpu->its_limits.current = 120_W;
      LeaseRecord record{{77, clock_.now() + 600_s, holder_, {}}, gpu->identity().uuid, "a GPU", boot_of(FileTree{})};
      record.found.power_limit = 220_W;
      ledger().write(record);
    }
  }

  [[nodiscard]] Ledger ledger() const { return Ledger{folder_, FileTree{}}; }

  std::future<bool> guard() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    FileDescriptor{ends[0]}.close();  // the holder's end, which its death has closed
    return std::async(std::launch::async, [this, connection = ends[1]] {
      const GuardDuty duty{ledger(), holder_.pid, holder_.started, FileDescriptor{connection}};
      const std::array<device::Backend*, 1> backends{&backend_};
      return stand_guard(duty, backends, clock_);
    });
  }

  bool comes_true(const std::function<bool()>& condition) {
    const Instant until = clock_.now() + 20_s;
    while (!condition() && clock_.now() < until) {
      clock_.sleep_until(clock_.now() + 1_ms);
    }
    return condition();
  }

  test::TemporaryFolder temporary_;
  FileTree folder_{temporary_.path() / "state"};
  SystemClock clock_;
  Holder holder_;
  SettableGpus backend_;
};

TEST_F(GuardDutyTest, PutsBackWhatItsHolderLeftAndEndsInRealTime) {
  EXPECT_TRUE(guard().get());
  EXPECT_EQ(backend_.gpus[0]->its_limits.current, 220_W);
  EXPECT_EQ(backend_.gpus[1]->its_limits.current, 220_W);
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(GuardDutyTest, AGpuThatHangsHoldsUpNoOtherAndIsWaitedForInRealTime) {
  std::promise<void> end_of_hang;
  backend_.gpus[0]->it_hangs = [&] { end_of_hang.get_future().wait(); };
  std::future<bool> ended = guard();
  EXPECT_TRUE(comes_true([&] { return !ledger().read("GPU-1"); }));
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds{300}), std::future_status::timeout);
  EXPECT_THAT(ledger().gpus(), ElementsAre("GPU-0"));
  end_of_hang.set_value();
  EXPECT_TRUE(ended.get());
  EXPECT_EQ(backend_.gpus[0]->its_limits.current, 220_W);
  EXPECT_EQ(backend_.gpus[1]->its_limits.current, 220_W);
}

TEST_F(GuardDutyTest, DevicesAreReopenedOnlyWhileNoneOfThemIsInUseInRealTime) {
  std::promise<void> end_of_hang;
  std::atomic<int> refused = 0;
  backend_.gpus[0]->it_hangs = [&] { end_of_hang.get_future().wait(); };
  backend_.gpus[1]->its_refusals["power"] = Failure{Reason::lost, {}};
  std::function<void()> count = [&] {
    ++refused;
    backend_.gpus[1]->it_hangs = count;
  };
  backend_.gpus[1]->it_hangs = count;
  std::future<bool> ended = guard();
  EXPECT_TRUE(comes_true([&] { return refused >= 4; }));
  EXPECT_EQ(backend_.discoveries, 1);
  end_of_hang.set_value();
  EXPECT_TRUE(ended.get());
  EXPECT_EQ(backend_.gpus[1]->its_limits.current, 220_W);
}

}  // namespace
}  // namespace zeus::control
