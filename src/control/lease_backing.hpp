// What a Lease delegates to: this process itself, which sets the GPU and writes down what it found (local_lease.hpp),
// or a lessor that holds leases for other processes (lessor.hpp). The operations promise what those of a Lease promise;
// the same tests hold all implementations to it.
//
// Threads: any; the backing itself makes calls for one GPU run one after another. Ownership: it belongs to its Lease
// alone, and outlives the Lessor or book that gave it; the Clock outlives it. Fork: it belongs to the process that made
// it, and apart from renew() Lease calls it in no other. Its destructor may run in a forked child. There it ends
// nothing: it frees what belongs to this process alone, and never waits.
#pragma once

#include "device/gpu.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <unistd.h>

#include <optional>
#include <string>

namespace zeus::control {

// The limit that was asked for, and the one that is enforced: lower if something else limits as well.
struct PowerSetting {
  Watts requested;
  Reading<Watts> enforced;
};

struct ClockSetting {
  ClockRange requested;
  Reading<std::optional<ClockRange>> locked_to;  // few drivers report it
  Reading<Megahertz> running;                    // right after the call; the hardware takes a while to change clocks
};

class LeaseBacking {
 public:
  LeaseBacking() = default;
  LeaseBacking(const LeaseBacking&) = delete;
  LeaseBacking& operator=(const LeaseBacking&) = delete;
  virtual ~LeaseBacking() = default;

  [[nodiscard]] virtual const device::Gpu& gpu() const = 0;
  // The GPU's name in messages: "GPU 0 (Tesla V100-SXM2-32GB)".
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
  // Called in a forked child as well. An override that does more than a comparison calls require_this_process() first.
  virtual void renew() = 0;
  // Does nothing if it has been released. Called before the destructor, unless this is another process by then.
  virtual void release() = 0;

  [[nodiscard]] bool is_of_this_process() const { return owner_ == ::getpid(); }
  // A conflict Error in a forked child.
  void require_this_process() const;

 private:
  pid_t owner_ = ::getpid();
};

}  // namespace zeus::control
