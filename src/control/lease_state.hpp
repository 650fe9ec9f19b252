// What a Lease consists of: its part, and what it shares with the other leases of this GPU that this process has. Seen
// by Lease and LeaseBook alone. Every member but `owner` and the constants is used while working on the GPU.
#pragma once

#include "control/lease.hpp"
#include "control/shared_settings.hpp"

#include <zeus/device_values.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace zeus::control {

// The one lease of a GPU that this process has, which all who ask for one have a share of: its own, or what it has
// borrowed from a process that it descends from.
struct Holding {
  struct Share {
    Seconds term;
    std::string overruled;          // by another share, since this one last set something
    std::int64_t changes_seen = 0;  // of those that have borrowed from us, by then
  };

  LeaseRecord record;
  bool borrowed = false;  // ours is the child's part of the record
  bool over = false;      // what was set has been put back, or waits for it
  Instant in_time_until;  // of the work under way
  std::map<std::int64_t, Share> shares;
  std::int64_t next_share = 0;
  SharedSettings settings;
  // On the monotonic clock, in nanoseconds; used without working.
  std::atomic<std::int64_t> renew_at{0};

  // The longest that a share has asked for.
  [[nodiscard]] Seconds term() const;
  // Our part of a record, which has one.
  [[nodiscard]] Claim& part_of(LeaseRecord& whole) const { return borrowed ? *whole.lending->child : whole; }
  [[nodiscard]] const Claim& ours() const { return borrowed ? *record.child() : record; }
  // Whether our claim is in what is written down.
  [[nodiscard]] bool is_in(const LeaseRecord& written) const;
  // When it ends unless renewed: what is borrowed, with the lease that it is borrowed from at the latest.
  [[nodiscard]] Instant ends() const;
  [[nodiscard]] std::int64_t changes_by_children() const {
    return !borrowed && record.lending ? record.lending->changes : 0;
  }
  // What the GPU is set to, as far as this lease has touched it.
  [[nodiscard]] Found in_force() const { return overlaid(ours().found, settings.latest()); }
};

struct Lease::State {
  std::shared_ptr<const Ledger> ledger;
  std::shared_ptr<Guardian> guardian;
  Clock* clock = nullptr;
  device::DiscoveredGpu gpu;
  std::shared_ptr<GpuLock> lock;
  std::shared_ptr<Holding> holding;
  std::int64_t share = 0;  // our number in it
  Seconds term;
  pid_t owner = ::getpid();
  bool released = false;
  // On the monotonic clock, in nanoseconds; used without working.
  std::atomic<std::int64_t> look_at{0};  // whether somebody watches

  [[nodiscard]] const std::string& name() const { return holding->record.gpu_name; }
  void require_owner() const;
  [[nodiscard]] GpuLock::Work begin();
  // With somebody watching, the lease ours, and its time extended where it is due.
  [[nodiscard]] GpuLock::Work begin_change();
  // The same before something is set: an Error while a process that has borrowed from this one sets the GPU.
  [[nodiscard]] GpuLock::Work begin_setting();
  // Takes up what is written down, where another process may have changed its part; false when ours is not there.
  [[nodiscard]] bool look();
  // Whether the holding is still this process's lease; ends it when it is not.
  [[nodiscard]] bool still_holds();
  void require_ours();
  // After a change: an overdue GPU is put back without waiting for who works on it, so a change that ended after the
  // time under which it began may have come after that.
  void require_in_time();
  [[nodiscard]] Error overdue() const;
  // What our end puts back and leaves, given what is written down, if anything.
  [[nodiscard]] ClaimEnd ending(const std::optional<LeaseRecord>& written) const;
  void write(const LeaseRecord& next);
  void extend();
  void end();

  // Takes a share of what this process holds, which lasts for as long as that asks for from here on.
  void join();
  // Withdraws what this share has set: of each kind comes back what another share has set last, or what was found. Says
  // what could not be put back.
  [[nodiscard]] std::optional<std::string> withdraw();
  // Of what is to come back, what a process that has borrowed from us has changed comes back at its end; the rest is
  // left.
  [[nodiscard]] Found leave_to_child(const Found& coming_back);
  // Ends this share, and with the last one the lease. Says what could not be put back.
  [[nodiscard]] std::optional<std::string> leave();
  [[nodiscard]] std::optional<std::string> leave_to_others();
  [[nodiscard]] std::optional<std::string> give_up();
  [[nodiscard]] bool child_goes_on() const;
  // Ends our claim and makes that of the child the lease: what it has changed, it puts back to what we found.
  [[nodiscard]] std::optional<std::string> give_to_child();
  // Tells the other shares where what is in force is not what it was.
  void tell_others(const Found& before);

  // A child says that it is about to change what its parent may be measuring.
  void count_change(LeaseRecord& next) const;
  // Writes down what is found before the first change of a setting; an Error when that cannot be, and nothing changed.
  void save_power_limit();
  void save_clocks(ClockDomain domain);
  void save_persistence_mode();
  // Has the device set to `setting`; an Error when that came too late, or is refused. When it is certain that nothing
  // was changed, nothing is left of it. What it needs written down has been, where `before` was there already.
  template <typename Set>
  void set(const Found& setting, const Found& before, const std::string& what, const Set& at_device);
  void keep(const Found& setting);
};

}  // namespace zeus::control
