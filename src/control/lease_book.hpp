// The only place to take leases, and so the only way to set a GPU: for a process that may set it, or that has a lessor
// to do so. Threads: any. Leases outlive the book that they were taken from; the Clock outlives both.
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

// Options that few callers of acquire() need.
struct LeaseTaking {
  // The client, if the lease is not for this process: written down beside it. A lessor ignores it, and knows for
  // itself.
  std::optional<LeaseClient> client = std::nullopt;
  // How long to wait for a process that works on the GPU at that moment.
  Seconds patience = work_patience;
  LessorPatience of_lessor = LessorPatience::usual;
};

class LeaseBook {
 public:
  // How long a lease lasts without renewal.
  static constexpr Seconds usual_term{60};

  // `gpus` are all GPUs that this process sees. Those that `lessor` offers, if there is one, are leased from it.
  LeaseBook(Ledger ledger, std::vector<device::DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock,
            Lends lends = Lends::nothing, std::shared_ptr<Lessor> lessor = nullptr);
  // For a process that can take leases from the lessor alone: for any other GPU, acquire() throws `why_not_here`.
  LeaseBook(std::vector<device::DiscoveredGpu> gpus, std::shared_ptr<Lessor> lessor, Lends lends, Error why_not_here);

  // A lease of the GPU with this UUID, once a guardian watches this process. If this process has a lease of it in the
  // same folder of records, from any book, the new one is a share of that. If an ancestor of this process has one and
  // lends, it is borrowed: by one process at a time, and for as long as the ancestor has it. First puts back what a
  // dead holder has left on this GPU, and waits for no other GPU. Errors: conflict, naming the holder, if another
  // process has it; not_found; unavailable if nothing can be set on it, or if what a dead holder left cannot be put
  // back; corrupt_data; timeout if another process works on it for longer than the patience of `taking`; any failure to
  // write the record; any Error of a lessor. After an Error nothing has been changed.
  Lease acquire(std::string_view uuid, Seconds term = usual_term, LeaseTaking taking = {});
  // Whether this process has a lease of it. Errors as for any work on the GPU.
  [[nodiscard]] bool has_one(std::string_view uuid, Seconds patience = work_patience) const;

 private:
  std::vector<device::DiscoveredGpu> gpus_;
  Lends lends_ = Lends::nothing;
  std::shared_ptr<LocalLeases> local_;  // null if only the lessor gives leases
  std::shared_ptr<Lessor> lessor_;      // null if there is none
  std::optional<Error> why_not_here_;
};

}  // namespace zeus::control
