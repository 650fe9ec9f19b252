// What a Lease consists of; seen by Lease and LeaseBook alone. Every member but `owner` and the constants is used while
// working on the GPU.
#pragma once

#include "control/lease.hpp"

#include <unistd.h>

#include <atomic>
#include <string>

namespace zeus::control {

struct Lease::State {
  std::shared_ptr<const Ledger> ledger;
  std::shared_ptr<Guardian> guardian;
  Clock* clock = nullptr;
  device::DiscoveredGpu gpu;
  std::shared_ptr<GpuLock> lock;
  LeaseRecord record;
  Seconds term;
  pid_t owner = ::getpid();
  bool ended = false;
  Instant in_time_until;  // of the work under way
  // On the monotonic clock, in nanoseconds; used without working.
  std::atomic<std::int64_t> renew_at{0};
  std::atomic<std::int64_t> look_at{0};  // whether somebody watches

  [[nodiscard]] const std::string& name() const { return record.gpu_name; }
  void require_owner() const;
  [[nodiscard]] GpuLock::Work begin();
  // With somebody watching, the lease ours, and its time extended where it is due.
  [[nodiscard]] GpuLock::Work begin_change();
  [[nodiscard]] bool is_ours() const;
  void require_ours();
  // After a change: an overdue GPU is put back without waiting for who works on it, so a change that ended after the
  // time under which it began may have come after that.
  void require_in_time();
  [[nodiscard]] Error overdue() const;
  void write(const LeaseRecord& next);
  void extend();
  void end();

  // Writes down what is found before the first change of a setting; an Error when that cannot be, and nothing changed.
  void save_power_limit();
  void save_clocks(device::ClockDomain domain);
  void save_persistence_mode();
  // A setter's outcome: an Error when it came too late, or is a refusal. When it is certain that nothing was changed,
  // `before` is what is to be put back.
  void require(const device::Outcome& outcome, const LeaseRecord& before, const std::string& what);
};

}  // namespace zeus::control
