// The right to set one GPU for a time, and the only way to a device's setters. Zeus durably records the settings that
// it finds before it changes them, reads back what it sets, and puts everything back when the lease ends, however it
// ends. This process does that, or a lessor for it (lease_backing.hpp).
//
// A process has one lease of a GPU. Each Lease is a share of it, so a process never conflicts with itself. For each
// kind of setting (the power limit, the graphics and sm clocks, the memory clocks, persistence mode) the latest one
// applies, whichever share set it. When a share ends, each of its settings in force is replaced by the latest one that
// another share has set and not withdrawn. When the last share ends, the settings found at first are put back. The
// lease lasts for the longest term of its shares, and each share renews it for all.
//
// If the holder lends (LeaseBook), a descendant process may borrow: its `found` is then what its parent had set. While
// a child borrows, settings by the parent are conflict Errors, and what the parent withdraws is put back when the
// child's lease ends. The parent's end ends both.
//
// Threads: any; calls for one GPU run one after another. Ownership: a share owns what it needs of the book that granted
// it; the Clock outlives it. Fork: shares belong to the process that took them. In a forked child they are dead: they
// refuse to set, end silently, and do not touch the parent's. The child may take a lease of its own, as another
// process.
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
  // Like release(); a failure is logged, and the guardian or the lessor tries again.
  ~Lease();

  [[nodiscard]] const device::Gpu& gpu() const;
  // The client that it was taken for (LeaseTaking).
  [[nodiscard]] const std::optional<LeaseClient>& client() const { return client_; }

  // Each of these throws an Error if the device refuses, if the settings found cannot be read or recorded (then nothing
  // is changed), or if the lease has expired and its settings were put back (timeout). Each also renews the lease.
  PowerSetting set_power_limit(Watts limit);
  ClockSetting lock_clocks(ClockDomain domain, ClockRange range);
  void unlock_clocks(ClockDomain domain);
  void unlock_all_clocks();
  Reading<bool> set_persistence_mode(bool enabled);

  // Why the settings that this share has made, or left as they were, are no longer in force: another share or a
  // borrowing process has changed the power limit or the clocks, or the lease has ended. Empty otherwise. For code that
  // measures what a setting costs. Throws LessorAway if the lessor does not say so in the moment that it was given
  // (LessorPatience::a_moment).
  [[nodiscard]] std::string overruled() const;

  // Withdraws what this share has set and keeps the share, as between the slices of observer mode.
  void restore();

  // Reports that the holder makes progress. Call it as often as convenient: until half of the term is over it costs a
  // comparison, and now and then a check that a guardian still watches. If none does, another is started; an Error if
  // that fails. A lease that is not renewed for its term ends, and its settings are put back.
  void renew();

  // Withdraws what this share has set and ends the share; the last share ends the lease. If a setting cannot be put
  // back, throws an Error that names it. The lease has ended even so; the guardian goes on trying, and `zeus restore`
  // can.
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
