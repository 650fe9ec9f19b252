// The right to set one GPU, for a while: the only way to a device's setters. What is found is written down durably
// before it is changed, what is set is read back, and everything is put back to what was found when the lease ends,
// however it ends. Behind it stands this process, or a lessor that does all this for it (lease_backing.hpp).
//
// A process has one lease of a GPU; each Lease is a share of it, and a process never stands in its own way. Of each
// kind of setting (the power limit, the clocks of a domain, persistence mode) the latest holds, whoever set it. When a
// share ends, what it had in force gives way to the latest that another share has set and not withdrawn; when the last
// one ends, to what was found first. The lease lasts for the longest term of its shares, and each renews it for all.
//
// Where the holder lends (LeaseBook), a process that descends from it may borrow: for it `found` is what its parent has
// set. While it has borrowed, the parent's sets are conflict Errors, and what the parent withdraws comes back when the
// child ends. The parent's end is the end of both.
//
// Threads: any; calls for one GPU come one after another. Ownership: a share owns what it needs of the book that gave
// it; the Clock outlives it. Fork: shares belong to the process that took them. In a forked child they are dead: they
// refuse to set and end without a word, and the parent's are untouched. The child may ask for a lease of its own, and
// is another process then.
#pragma once

#include "control/lease_backing.hpp"
#include "control/lease_client.hpp"
#include "device/gpu.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <string>

namespace zeus::control {

class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  // As release(); what fails is logged, and tried again by the guardian or the lessor.
  ~Lease();

  [[nodiscard]] const device::Gpu& gpu() const;
  // For whom it was taken (LeaseTaking).
  [[nodiscard]] const std::optional<LeaseClient>& client() const { return client_; }

  // Each of these is an Error when the device refuses, when what is there cannot be read or written down (and then
  // nothing is changed), or when the lease has run out and what it set was put back (timeout). Each also renews.
  PowerSetting set_power_limit(Watts limit);
  ClockSetting lock_clocks(ClockDomain domain, ClockRange range);
  void unlock_clocks(ClockDomain domain);
  void unlock_all_clocks();
  Reading<bool> set_persistence_mode(bool enabled);

  // Why what this share has set, or not set, has not been left alone ever since: another share, or a process that has
  // borrowed, has changed the power limit or the clocks that are in force, or the lease has ended. Empty otherwise. For
  // whoever measures what a setting costs.
  [[nodiscard]] std::string overruled() const;

  // Withdraws what this share has set and keeps the share, as between the slices of observer mode.
  void restore();

  // Says that the holder makes progress. Call it as often as convenient: it costs a comparison until half of the term
  // is over, and now and then a look at whether somebody still watches: if not, somebody is started who does, and an
  // Error says so when that fails. A lease that nobody renews for its term ends, and is put back.
  void renew();

  // Withdraws what this share has set and ends it, and with the last one the lease. When something cannot be put back,
  // an Error says what: the lease has ended all the same, the guardian goes on trying, and `zeus restore` can.
  void release();

 private:
  friend class LeaseBook;
  Lease(std::unique_ptr<LeaseBacking> backing, std::optional<LeaseClient> client);
  // An Error in a forked child.
  [[nodiscard]] LeaseBacking& of_this_process() const;

  std::unique_ptr<LeaseBacking> backing_;
  std::optional<LeaseClient> client_;
};

}  // namespace zeus::control
