// What stands behind a Lease: this process itself, which sets the GPU and writes down what it found (local_lease.hpp),
// or somebody who holds leases for others and is asked to (lessor.hpp). The operations promise what those of a Lease
// do; the same tests hold all of them to it.
//
// Threads: any; it sees to it itself that calls for one GPU come one after another. Ownership: it is its Lease's alone,
// and outlives the Lessor or book that gave it; the Clock outlives it. Fork: it belongs to the process that made it,
// and Lease calls it nowhere else, but for renew(). Its destructor may run in a forked child, and ends nothing: it
// frees what is this process's alone, and never waits.
#pragma once

#include "device/gpu.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <unistd.h>

#include <optional>
#include <string>

namespace zeus::control {

// What was asked for, and what holds: lower where something else limits as well.
struct PowerSetting {
  Watts requested;
  Reading<Watts> enforced;
};

struct ClockSetting {
  ClockRange requested;
  Reading<std::optional<ClockRange>> locked_to;  // few drivers tell
  Reading<Megahertz> running;                    // right after: changing clocks takes hardware a while
};

class LeaseBacking {
 public:
  LeaseBacking() = default;
  LeaseBacking(const LeaseBacking&) = delete;
  LeaseBacking& operator=(const LeaseBacking&) = delete;
  virtual ~LeaseBacking() = default;

  [[nodiscard]] virtual const device::Gpu& gpu() const = 0;
  // As messages name the GPU: "GPU 0 (Tesla V100-SXM2-32GB)".
  [[nodiscard]] virtual std::string name() const = 0;

  virtual PowerSetting set_power_limit(Watts limit) = 0;
  virtual ClockSetting lock_clocks(ClockDomain domain, ClockRange range) = 0;
  virtual void unlock_clocks(ClockDomain domain) = 0;
  virtual void unlock_all_clocks() {
    unlock_clocks(ClockDomain::graphics);
    unlock_clocks(ClockDomain::memory);
  }
  virtual Reading<bool> set_persistence_mode(bool enabled) = 0;
  [[nodiscard]] virtual std::string overruled() = 0;
  virtual void restore() = 0;
  // Called in a forked child as well: whoever does more in it than compare calls require_this_process() first.
  virtual void renew() = 0;
  // Nothing when it has been released. Called before the destructor, unless the process is another one by then.
  virtual void release() = 0;

  [[nodiscard]] bool is_of_this_process() const { return owner_ == ::getpid(); }
  // A conflict Error in a forked child.
  void require_this_process() const;

 private:
  pid_t owner_ = ::getpid();
};

}  // namespace zeus::control
