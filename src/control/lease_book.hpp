// Where leases are taken: the one door to setting a GPU, for a process that may, or that a lessor does it for.
// Threads: any. Leases outlive the book they were taken from; the Clock outlives both.
#pragma once

#include "base/clock.hpp"
#include "control/guardian.hpp"
#include "control/lease.hpp"
#include "control/lease_client.hpp"
#include "control/ledger.hpp"
#include "control/lessor.hpp"
#include "control/restoration.hpp"
#include "device/backend.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::control {

class LocalLeases;

// What few say of a lease that they take.
struct LeaseTaking {
  // For whom, where that is not this process: written down beside it. Nothing to a lessor, which knows for itself.
  std::optional<LeaseClient> client = std::nullopt;
  // How long to wait for whoever works on the GPU at that moment.
  Seconds patience = work_patience;
};

class LeaseBook {
 public:
  // How long a lease lasts that nobody renews.
  static constexpr Seconds usual_term{60};

  // `gpus` are all that this process sees. Those that the lessor offers, if there is one, are leased from it.
  LeaseBook(Ledger ledger, std::vector<device::DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock,
            Lends lends = Lends::nothing, std::shared_ptr<Lessor> lessor = nullptr);
  // Of a process that can take leases from the lessor alone: of any other GPU it is refused, with `why_not_here`.
  LeaseBook(std::vector<device::DiscoveredGpu> gpus, std::shared_ptr<Lessor> lessor, Lends lends, Error why_not_here);

  // A lease of the GPU with this UUID, once somebody watches this process: a share of the one that this process has in
  // the same folder of records, from whichever book, if it has one. Where a process has it that this one descends from,
  // and that lends, it is borrowed: one process at a time, and for as long as that process has it. Puts back first what
  // a dead holder has left on this GPU, and waits for no other. Errors: conflict, naming the holder, when another
  // process has it; not_found; unavailable when nothing can be set on it, or when what a dead holder left cannot be put
  // back; corrupt_data; timeout when another process works on it for longer than `taking` has patience; whatever keeps
  // the record from being written; whatever a lessor says. After any of them nothing has been changed.
  Lease acquire(std::string_view uuid, Seconds term = usual_term, LeaseTaking taking = {});
  // Whether this process has one already. Errors as when one works on the GPU.
  [[nodiscard]] bool has_one(std::string_view uuid, Seconds patience = work_patience) const;

 private:
  std::vector<device::DiscoveredGpu> gpus_;
  Lends lends_ = Lends::nothing;
  std::shared_ptr<LocalLeases> local_;  // null where leases are had from the lessor alone
  std::shared_ptr<Lessor> lessor_;      // null where there is none
  std::optional<Error> why_not_here_;
};

}  // namespace zeus::control
