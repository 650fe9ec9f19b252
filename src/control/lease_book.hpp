// Where leases are taken: the one door to setting a GPU, for a process that may.
// Threads: any. Leases outlive the book they were taken from; the Clock outlives both.
#pragma once

#include "base/clock.hpp"
#include "control/guardian.hpp"
#include "control/lease.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <zeus/units.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace zeus::control {

// Whether processes that descend from this one may set what it has a lease of.
enum class Lends { nothing, to_descendants };

class LeaseBook {
 public:
  // How long a lease lasts that nobody renews.
  static constexpr Seconds usual_term{60};

  // `gpus` are all that this process sees, which is also what it puts back if others have left it changed.
  LeaseBook(Ledger ledger, std::vector<device::DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock,
            Lends lends = Lends::nothing);

  // A lease of the GPU with this UUID, once somebody watches this process: a share of the one that this process has in
  // the same folder of records, from whichever book, if it has one. Where a process has it that this one descends from,
  // and that lends, it is borrowed: one process at a time, and for as long as that process has it. Puts back first what
  // dead holders have left, on any GPU. Errors: conflict, naming the holder, when another process has it; not_found;
  // unavailable when nothing can be set on it, or when what a dead holder left cannot be put back; corrupt_data;
  // whatever keeps the record from being written. After any of them nothing has been changed.
  Lease acquire(std::string_view uuid, Seconds term = usual_term);
  // Whether this process has one already. Errors as when one works on the GPU.
  [[nodiscard]] bool has_one(std::string_view uuid) const;

 private:
  void restore_what_was_left();
  // What is written down of a lease that begins now: a new record, or `present` with what is borrowed of it.
  [[nodiscard]] LeaseRecord begun(std::string_view uuid, const std::string& name, Seconds term,
                                  const std::optional<LeaseRecord>& present) const;

  std::shared_ptr<const Ledger> ledger_;
  std::vector<device::DiscoveredGpu> gpus_;
  std::shared_ptr<Guardian> guardian_;
  Clock& clock_;
  Lends lends_;
};

}  // namespace zeus::control
