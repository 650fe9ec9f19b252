// A lease that this process has itself: it sets the GPU, and writes down before what it found. A part of its own, and
// what it shares with the other leases of this GPU that this process has (holding.hpp). Made by LocalLeases alone; for
// threads and processes, see Lease.
//
// Its functions are in three files: what it is asked to do (local_lease.cpp), whether the lease is still ours
// (local_lease_term.cpp), and how it ends (local_lease_end.cpp).
#pragma once

#include "base/clock.hpp"
#include "control/claim_end.hpp"
#include "control/gpu_lock.hpp"
#include "control/guardian.hpp"
#include "control/holding.hpp"
#include "control/lease_backing.hpp"
#include "control/lease_client.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <zeus/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zeus::control {

// Where leases are written down, who watches, and whose time it is.
struct LeasePlace {
  std::shared_ptr<const Ledger> ledger;
  std::shared_ptr<Guardian> guardian;
  Clock* clock = nullptr;
};

class LocalLease final : public LeaseBacking {
 public:
  LocalLease(LeasePlace place, device::DiscoveredGpu gpu, Seconds term, std::optional<LeaseClient> client);

  // Before anything else one of these, while working on the GPU. Takes a share of what this process has, unless that
  // has ended by now, which is told; or makes `fresh` the lease of this process.
  [[nodiscard]] bool share(std::shared_ptr<Holding> present);
  void begin_with(std::shared_ptr<Holding> fresh);

  [[nodiscard]] const device::Gpu& gpu() const override { return *gpu_.gpu; }
  [[nodiscard]] std::string name() const override { return name_; }
  PowerSetting set_power_limit(Watts limit) override;
  ClockSetting lock_clocks(ClockDomain domain, ClockRange range) override;
  void unlock_clocks(ClockDomain domain) override;
  void unlock_all_clocks() override;
  Reading<bool> set_persistence_mode(bool enabled) override;
  [[nodiscard]] std::string overruled() override;
  void restore() override;
  void renew() override;
  void release() override;

 private:
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

  const std::shared_ptr<const Ledger> ledger_;
  const std::shared_ptr<Guardian> guardian_;
  Clock* const clock_;
  const device::DiscoveredGpu gpu_;
  const std::string name_;
  const std::shared_ptr<GpuLock> lock_;
  const Seconds term_;
  const std::optional<LeaseClient> client_;
  std::shared_ptr<Holding> holding_;
  std::int64_t share_ = 0;  // our number in it
  bool released_ = false;
  // On the monotonic clock, in nanoseconds; used without working.
  std::atomic<std::int64_t> look_at_{0};  // whether somebody watches
};

}  // namespace zeus::control
