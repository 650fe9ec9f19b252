// The right to set one GPU, for a while: the only way to a device's setters. What is found is written down durably
// before it is changed, what is set is read back, and everything is put back to what was found when the lease ends,
// however it ends.
//
// Threads: any; calls for one GPU come one after another. Ownership: a lease owns its record and what it needs of the
// book that gave it; the Clock outlives it. Fork: a lease belongs to the process that took it. In a forked child it is
// dead: it refuses to set and ends without a word, and the parent's is untouched.
#pragma once

#include "base/clock.hpp"
#include "control/gpu_lock.hpp"
#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <zeus/units.hpp>

#include <memory>
#include <optional>

namespace zeus::control {

// What was asked for, and what holds: lower where something else limits as well.
struct PowerSetting {
  Watts requested;
  device::Reading<Watts> enforced;
};

struct ClockSetting {
  device::ClockRange requested;
  device::Reading<std::optional<device::ClockRange>> locked_to;  // few drivers tell
  device::Reading<Megahertz> running;                            // right after: changing clocks takes hardware a while
};

class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  // As release(); what fails is logged, and tried again by the guardian.
  ~Lease();

  [[nodiscard]] const device::Gpu& gpu() const;

  // Each of these is an Error when the device refuses, when what is there cannot be read or written down (and then
  // nothing is changed), or when the lease has run out and what it set was put back (timeout). Each also renews.
  PowerSetting set_power_limit(Watts limit);
  ClockSetting lock_clocks(device::ClockDomain domain, device::ClockRange range);
  void unlock_clocks(device::ClockDomain domain);
  device::Reading<bool> set_persistence_mode(bool enabled);

  // Puts everything back and keeps the lease, as between the slices of observer mode.
  void restore();

  // Says that the holder makes progress. Call it as often as convenient: it costs a comparison until half of the term
  // is over, and now and then a look at whether somebody still watches: if not, somebody is started who does, and an
  // Error says so when that fails. A lease that nobody renews for its term ends, and is put back.
  void renew();

  // Puts everything back and ends the lease. When something cannot be put back, an Error says what: the lease has ended
  // all the same, the guardian goes on trying, and `zeus restore` can.
  void release();

 private:
  friend class LeaseBook;
  struct State;
  explicit Lease(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace zeus::control
