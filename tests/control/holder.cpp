// A process that holds leases on all GPUs and keeps changing settings until it is ended: the holder of
// tests/control/restore_test.py.
//
//   control_holder STATE_DIR GUARDIAN MODE SEED
//     set      changes settings at random, releases and takes leases again, until SIGTERM; then it releases all
//     fork     the same, beside four forked children that live on
//     several  the same in two threads, each of which takes and ends several leases of the same GPUs
//     lend     sets everything once, says `lends`, reads a byte, starts another holder (`borrow`), which says
//              `child NUMBER` and borrows what it sets from this one, and renews until SIGTERM
//     borrow   as `set`, but takes no lease again: what it is told when it has lost one ends it
//     renew    takes leases of three seconds, changes settings once, and renews until SIGTERM
//     once     takes leases and releases them
// It prints `leased` once it has taken leases and changed something.

#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/random.hpp"
#include "control/guardian_process.hpp"
#include "control/lease_book.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace {

using namespace zeus;

volatile std::sig_atomic_t asked_to_end = 0;

class HoldingProcess {
 public:
  HoldingProcess(const char* folder, const char* guardian, std::uint64_t seed)
      : folder_{folder},
        random_{seed, 0, 0},
        guardian_{
            std::make_shared<control::GuardianProcess>(control::GuardianProcess::Plan{guardian, folder, FileTree{}})} {
    device::Backend* const backends[] = {&nvml_};
    gpus_ = device::take_inventory(backends, Environment::of_process()).gpus;
    book_.emplace(control::Ledger{FileTree{folder}, FileTree{}}, gpus_, guardian_, clock_);
  }

  // From here on, leases are lent to processes that this one starts.
  void lend() {
    book_.emplace(control::Ledger{FileTree{folder_}, FileTree{}}, gpus_, guardian_, clock_,
                  control::Lends::to_descendants);
  }

  void take(Seconds term) {
    leases_.clear();
    for (const device::DiscoveredGpu& gpu : gpus_) {
      leases_.push_back(book_->acquire(gpu.gpu->identity().uuid, term));
    }
  }

  void change_all() {
    for (control::Lease& lease : leases_) {
      lease.set_power_limit(125_W);
      lease.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
      static_cast<void>(lease.set_persistence_mode(!*lease.gpu().persistence_mode()));
    }
  }

  void renew() {
    for (control::Lease& lease : leases_) {
      lease.renew();
    }
    clock_.sleep_until(clock_.now() + 20_ms);
  }

  void change_something() {
    control::Lease& lease = leases_[random_.below(leases_.size())];
    const std::uint64_t choice = random_.below(400);
    if (choice == 0 && takes_again) {
      take(60_s);
    } else if (choice < 4) {
      lease.restore();
    } else if (choice < 40) {
      static_cast<void>(lease.set_persistence_mode(random_.below(2) == 0));
    } else if (choice < 80) {
      const Megahertz clock{600 + 100 * static_cast<double>(random_.below(7))};
      lease.lock_clocks(ClockDomain::graphics, {clock, clock});
    } else if (choice < 100) {
      lease.unlock_clocks(ClockDomain::graphics);
    } else {
      lease.set_power_limit(Watts{110 + static_cast<double>(random_.below(80))});
    }
    clock_.sleep_until(clock_.now() + random_.uniform() * 2_ms);
  }

  // The same with more leases of the same GPUs, taken and ended in random order.
  void change_some_of_several() {
    const std::uint64_t choice = random_.below(20);
    if (choice == 0 && leases_.size() < 3 * gpus_.size()) {
      leases_.push_back(book_->acquire(gpus_[random_.below(gpus_.size())].gpu->identity().uuid, 60_s));
    } else if (choice == 1 && leases_.size() > 1) {
      leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(random_.below(leases_.size())));
    } else {
      change_something();
    }
  }

  void release() {
    for (control::Lease& lease : leases_) {
      lease.release();
    }
  }

  bool takes_again = true;

 private:
  std::string folder_;
  Random random_;
  SystemClock clock_;
  backends::nvml::NvmlBackend nvml_{clock_};
  std::shared_ptr<control::GuardianProcess> guardian_;
  std::vector<device::DiscoveredGpu> gpus_;
  std::optional<control::LeaseBook> book_;
  std::vector<control::Lease> leases_;
};

void say_leased() {
  static std::atomic_flag said;
  if (said.test_and_set()) {
    return;
  }
  std::puts("leased");
  std::fflush(stdout);
}

void fork_workers() {
  for (int i = 0; i < 4; ++i) {
    if (::fork() == 0) {
      ::alarm(120);
      while (true) {
        ::pause();
      }
    }
  }
}

// Another holder, which prints its process ID.
void start_child(const char* folder, const char* guardian, const char* seed) {
  if (::fork() == 0) {
    dprintf(STDOUT_FILENO, "child %d\n", ::getpid());
    ::execl("/proc/self/exe", "control_holder", folder, guardian, "borrow", seed, nullptr);
    ::_exit(127);
  }
}

void hold_several(HoldingProcess& process) {
  process.take(60_s);
  process.change_all();
  say_leased();
  while (asked_to_end == 0) {
    process.change_some_of_several();
  }
  process.release();
}

void hold(HoldingProcess& process, const std::string& mode) {
  if (mode == "once") {
    process.take(60_s);
    process.release();
    return;
  }
  const bool renews = mode == "renew";
  process.takes_again = mode != "borrow";
  process.take(renews ? 3_s : 60_s);
  process.change_all();
  if (mode == "fork") {
    fork_workers();
  }
  say_leased();
  while (asked_to_end == 0) {
    renews ? process.renew() : process.change_something();
  }
  process.release();
}

// Takes leases and lends them to a child, which `start` starts.
void lend(HoldingProcess& process, const std::function<void()>& start) {
  process.lend();
  process.take(60_s);
  process.change_all();
  std::puts("lends");
  std::fflush(stdout);
  static_cast<void>(std::getchar());
  start();
  while (asked_to_end == 0) {
    process.renew();
    ::waitpid(-1, nullptr, WNOHANG);
  }
  process.release();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    return 2;
  }
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  try {
    const std::uint64_t seed = std::strtoull(argv[4], nullptr, 10);
    HoldingProcess process{argv[1], argv[2], seed};
    if (std::string{argv[3]} == "lend") {
      lend(process, [argv] { start_child(argv[1], argv[2], argv[4]); });
      return 0;
    }
    if (std::string{argv[3]} != "several") {
      hold(process, argv[3]);
      return 0;
    }
    HoldingProcess another{argv[1], argv[2], seed + 1};
    auto beside = std::async(std::launch::async, [&another] { hold_several(another); });
    hold_several(process);
    beside.get();
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", std::string{to_string(error.kind())}.c_str(), error.what());
    return 1;
  }
}
