#include "control/local_leases.hpp"

#include "base/log.hpp"
#include "control/descent.hpp"
#include "control/process_table.hpp"
#include "control/restoration.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace zeus::control {

using device::DiscoveredGpu;

namespace {

// What this process holds of one GPU, if anything. Used while working on the GPU.
struct HeldGpu {
  std::shared_ptr<Holding> holding;
};

std::shared_ptr<HeldGpu> held_by_this_process(const Ledger& ledger, std::string_view uuid) {
  return ProcessTable<HeldGpu>::one(ledger.path(uuid), [] { return std::make_shared<HeldGpu>(); });
}

// A record that another user wrote is not obeyed. That the kernel holds a lock for a process of that user is believed.
std::optional<LeaseRecord> record_to_heed(const Ledger& ledger, const GpuLock& lock, const std::string& gpu,
                                          const std::string& name) {
  try {
    return ledger.read(gpu);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::permission_denied) {
      throw;
    }
    if (const std::optional<std::int64_t> holder = lock.holder()) {
      throw Error{ErrorKind::conflict, fmt::format("{} is leased by process {} of another user", name, *holder),
                  "go on without setting it, or wait until that process is done"};
    }
    return std::nullopt;  // restore_what_was_left() has logged it
  }
}

// An Error unless the holder of this record lends the GPU to this process.
void require_loan(const Ledger& ledger, const LeaseRecord& record, const std::string& name, Instant now) {
  const Standing standing = ledger.standing(record, now);
  const Claim* const child = record.child();
  if (standing == Standing::abandoned || standing == Standing::child_abandoned || standing == Standing::past) {
    const Claim& left = standing == Standing::child_abandoned ? *record.lending->child : record;
    throw Error{
        ErrorKind::unavailable,
        fmt::format("{} could not be put back to what {} had found: {}", name, to_text(left), to_text(left.found)),
        "`zeus restore` says why"};
  }
  if (child == nullptr && record.lending && descends_from(ledger.machine(), ::getpid(), record.holder)) {
    return;
  }
  throw Error{ErrorKind::conflict,
              fmt::format("{} is leased by {}{}, for {:.0f} s more unless renewed", name, to_text(record),
                          child != nullptr ? ", and set by " + to_text(*child) + " for it" : "",
                          (record.expires - now).value()),
              "go on without setting it, or wait until that process is done"};
}

}  // namespace

LocalLeases::LocalLeases(LeasePlace place, Lends lends) : place_{std::move(place)}, lends_{lends} {
}

LeaseRecord LocalLeases::begun(const DiscoveredGpu& gpu, Seconds term, const std::optional<LeaseClient>& client,
                               const std::optional<LeaseRecord>& present) const {
  const Ledger& ledger = *place_.ledger;
  const Instant now = place_.clock->now();
  // Leases of a GPU begin one after another, but a borrowed one may begin at the same tick of the clock.
  const std::int64_t number = present ? std::max(now.nanoseconds, present->lease + 1) : now.nanoseconds;
  Claim claim{number, now + term, this_holder(ledger.machine()), {}};
  claim.client = client;
  if (!present) {
    LeaseRecord record{claim, gpu.gpu->identity().uuid, to_text(gpu), ledger.boot()};
    if (lends_ == Lends::to_descendants) {
      record.lending.emplace();
    }
    return record;
  }
  LeaseRecord record = *present;
  record.lending = Lending{.changes = present->lending->changes, .child = claim};
  return record;
}

void LocalLeases::restore_what_was_left(const DiscoveredGpu& gpu, const LeaseTaking& taking) {
  for (const Restoration& one :
       restore_abandoned(*place_.ledger, std::array{gpu}, *place_.clock, gpu.gpu->identity().uuid, taking.patience)) {
    const bool logged_from_a_note = taking.client && one.claim && one.claim->client;  // by a daemon
    if (one.result == Restoration::Result::restored && !one.claim->found.empty() && !logged_from_a_note) {
      log::warning(fmt::format("{} was put back to {}, because {} had ended without doing so", one.name,
                               to_text(one.claim->found), to_text(*one.claim)));
    } else if (one.result == Restoration::Result::failed) {
      log::warning(fmt::format("{} is not put back: {}", one.name, one.why));
    }
  }
}

std::unique_ptr<LeaseBacking> LocalLeases::take(const DiscoveredGpu& gpu, Seconds term, const LeaseTaking& taking) {
  const std::string uuid = gpu.gpu->identity().uuid;
  const std::string name = to_text(gpu);
  const Ledger& ledger = *place_.ledger;
  place_.guardian->watch(uuid);
  restore_what_was_left(gpu, taking);

  auto lease = std::make_unique<LocalLease>(place_, gpu, term, taking.client);
  const auto held = held_by_this_process(ledger, uuid);
  const std::shared_ptr<GpuLock> lock = ledger.lock(uuid);
  const GpuLock::Work work = lock->begin_work(*place_.clock, taking.patience);
  if (held->holding && lease->share(held->holding)) {
    return lease;
  }
  const std::optional<LeaseRecord> present = record_to_heed(ledger, *lock, uuid, name);
  if (present) {
    require_loan(ledger, *present, name, place_.clock->now());
  }
  auto fresh = std::make_shared<Holding>();
  fresh->record = begun(gpu, term, taking.client, present);
  fresh->borrowed = present.has_value();
  lease->begin_with(fresh);
  held->holding = std::move(fresh);
  return lease;
}

bool LocalLeases::has_one(std::string_view uuid, Seconds patience) const {
  const GpuLock::Work work = place_.ledger->lock(uuid)->begin_work(*place_.clock, patience);
  const std::shared_ptr<Holding> holding = held_by_this_process(*place_.ledger, uuid)->holding;
  return holding && !holding->over;
}

}  // namespace zeus::control
