// A lease that this process holds itself: it sets the GPU, and first writes down what it found. It has a part of its
// own, and one that it shares with this process's other leases of the GPU (holding.hpp). Made by LocalLeases alone; for
// threads and processes, see Lease.
//
// Its functions are in three files: the operations of a Lease (local_lease.cpp), whether the lease is still ours
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

// Where leases are written down, which guardian watches, and the clock.
struct LeasePlace {
  std::shared_ptr<const Ledger> ledger;
  std::shared_ptr<Guardian> guardian;
  Clock* clock = nullptr;
};

class LocalLease final : public LeaseBacking {
 public:
  LocalLease(LeasePlace place, device::DiscoveredGpu gpu, Seconds term, std::optional<LeaseClient> client);

  // Call one of these first, while working on the GPU. share() joins what this process holds, and returns false if that
  // has ended by now; begin_with() makes `fresh` the lease of this process.
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
  // Makes sure that a guardian watches, that the lease is ours, and that its time is extended if due.
  [[nodiscard]] GpuLock::Work begin_change();
  // The same before a setting; an Error while a process that has borrowed from this one sets the GPU.
  [[nodiscard]] GpuLock::Work begin_setting();
  // Reads the record again, since another process may have changed its own part; false if our part is gone.
  [[nodiscard]] bool look();
  // Whether the holding is still this process's lease; ends the holding if it is not.
  [[nodiscard]] bool still_holds();
  void require_ours();
  // Call after a change. An overdue GPU is put back without waiting for its worker, so if the lease ran out during the
  // change, the GPU may have been put back before the change took effect.
  void require_in_time();
  [[nodiscard]] Error overdue() const;
  // What to put back, and what to leave in the record, when our claim ends. `written` is the record, if there is one.
  [[nodiscard]] ClaimEnd ending(const std::optional<LeaseRecord>& written) const;
  void write(const LeaseRecord& next);
  void extend();
  void end();

  // Takes a share of what this process holds, and makes the lease last for this share's term from now on.
  void join();
  // Withdraws what this share has set: each setting goes back to the latest of another share, or to what was found.
  // Returns what could not be put back.
  [[nodiscard]] std::optional<std::string> withdraw();
  // Splits off what a borrower has changed: those settings come back when the borrower ends. Returns the rest, which
  // comes back now.
  [[nodiscard]] Found leave_to_child(const Found& coming_back);
  // Ends this share; the last share ends the lease. Returns what could not be put back.
  [[nodiscard]] std::optional<std::string> leave();
  [[nodiscard]] std::optional<std::string> leave_to_others();
  [[nodiscard]] std::optional<std::string> give_up();
  [[nodiscard]] bool child_goes_on() const;
  // Makes the child's claim the lease: at its end, the child puts back what we found.
  [[nodiscard]] std::optional<std::string> give_to_child();
  // Marks the other shares as overruled if what is in force has changed.
  void tell_others(const Found& before);

  // A child counts that it is about to change what its parent may be measuring.
  void count_change(LeaseRecord& next) const;
  // `kinds`, with the clocks of all domains if it has those of one and a reset of one frees all.
  [[nodiscard]] Found touched(Found kinds) const;
  // Each writes down what is found before a setting is first changed. If that fails, throws an Error; nothing is
  // changed.
  void save_power_limit();
  void save_clocks(const Found& setting);
  void save_persistence_mode();
  // What the driver says, or the process that this one borrows from.
  [[nodiscard]] FoundClocks find_clocks(ClockDomain domain) const;
  // Reduces our part of the record to what our shares have set.
  void forget_withdrawn(LeaseRecord& next, bool is_put_back) const;
  // Resets the clocks of a domain, and locks again what else is in force if that frees all domains.
  [[nodiscard]] device::Outcome reset_clocks(ClockDomain domain);
  // Makes the device take `setting`; an Error if that came too late, or is refused. If the device certainly changed
  // nothing, restores the record to `before`, as it was before this setting was saved.
  template <typename Set>
  void set(const Found& setting, const LeaseRecord& before, const std::string& what, const Set& at_device);
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
  std::int64_t share_ = 0;  // our number in the holding
  bool released_ = false;
  // On the monotonic clock, in nanoseconds; read and written without working on the GPU.
  std::atomic<std::int64_t> look_at_{0};  // when to check again that a guardian watches
};

}  // namespace zeus::control
