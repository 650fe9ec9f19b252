#include "control/lease_book.hpp"

#include "base/log.hpp"
#include "control/descent.hpp"
#include "control/lease_state.hpp"
#include "control/process_table.hpp"
#include "control/put_back.hpp"
#include "control/restoration.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::control {

using device::DiscoveredGpu;

namespace {

// What this process holds of one GPU, if anything. Looked at and changed while working on the GPU.
struct HeldGpu {
  std::shared_ptr<Holding> holding;
};

std::shared_ptr<HeldGpu> held_by_this_process(const Ledger& ledger, std::string_view uuid) {
  return ProcessTable<HeldGpu>::one(ledger.path(uuid), [] { return std::make_shared<HeldGpu>(); });
}

// What another user has written down is not obeyed; that the kernel holds a lock for one of their processes is.
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
    return std::nullopt;  // restore_what_was_left() has said so
  }
}

// An Error unless the holder of this record lends it to this process.
void require_loan(const Ledger& ledger, const LeaseRecord& record, const std::string& name, Instant now) {
  const Standing standing = ledger.standing(record, now);
  const Claim* const child = record.child();
  if (standing == Standing::abandoned || standing == Standing::child_abandoned || standing == Standing::past) {
    const Claim& left = standing == Standing::child_abandoned ? *child : record;
    throw Error{ErrorKind::unavailable,
                fmt::format("{} could not be put back to what {} had found: {}", name, to_text(left.holder),
                            to_text(left.found)),
                "`zeus restore` says why"};
  }
  if (child == nullptr && record.lending && descends_from(ledger.machine(), record.holder)) {
    return;
  }
  throw Error{ErrorKind::conflict,
              fmt::format("{} is leased by {}{}, for {:.0f} s more unless renewed", name, to_text(record.holder),
                          child != nullptr ? ", and set by " + to_text(child->holder) + " for it" : "",
                          (record.expires - now).value()),
              "go on without setting it, or wait until that process is done"};
}

}  // namespace

LeaseBook::LeaseBook(Ledger ledger, std::vector<DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock,
                     Lends lends)
    : ledger_{std::make_shared<const Ledger>(std::move(ledger))},
      gpus_{std::move(gpus)},
      guardian_{std::move(guardian)},
      clock_{clock},
      lends_{lends} {
}

LeaseRecord LeaseBook::begun(std::string_view uuid, const std::string& name, Seconds term,
                             const std::optional<LeaseRecord>& present) const {
  const Instant now = clock_.now();
  // One lease of a GPU begins after another; what is borrowed may have begun at the same tick of the clock.
  const std::int64_t number = present ? std::max(now.nanoseconds, present->lease + 1) : now.nanoseconds;
  const Claim claim{number, now + term, this_holder(ledger_->machine()), {}};
  if (!present) {
    LeaseRecord record{claim, std::string{uuid}, name, ledger_->boot()};
    if (lends_ == Lends::to_descendants) {
      record.lending.emplace();
    }
    return record;
  }
  LeaseRecord record = *present;
  record.lending = Lending{.changes = present->lending->changes, .child = claim};
  return record;
}

void LeaseBook::restore_what_was_left() {
  for (const Restoration& one : restore_abandoned(*ledger_, gpus_, clock_)) {
    if (one.result == Restoration::Result::restored && !one.claim->found.empty()) {
      log::warning(fmt::format("{} was put back to {}, which {} had left changed", one.name, to_text(one.claim->found),
                               to_text(one.claim->holder)));
    } else if (one.result == Restoration::Result::failed) {
      log::warning(fmt::format("{} is not put back: {}", one.name, one.why));
    }
  }
}

Lease LeaseBook::acquire(std::string_view uuid, Seconds term) {
  const auto gpu = std::ranges::find(gpus_, uuid, [](const DiscoveredGpu& one) { return one.gpu->identity().uuid; });
  if (gpu == gpus_.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no GPU {}", uuid), "`zeus devices` lists what is there"};
  }
  const std::string name = to_text(*gpu);
  if (!gpu->control) {
    throw Error{ErrorKind::unavailable, fmt::format("nothing can be set on {}", name), "`zeus doctor` says why"};
  }
  if (!(term > Seconds{0})) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a lease of {} s makes no sense", term.value())};
  }
  guardian_->watch();
  restore_what_was_left();

  auto state = std::make_unique<Lease::State>();
  state->ledger = ledger_;
  state->guardian = guardian_;
  state->clock = &clock_;
  state->gpu = *gpu;
  state->lock = ledger_->lock(uuid);
  state->term = term;
  const auto held = held_by_this_process(*ledger_, uuid);
  const GpuLock::Work work = state->lock->begin_work(clock_, work_patience);
  const Instant now = clock_.now();
  state->holding = held->holding;
  if (state->holding && state->still_holds()) {
    if (now < state->holding->ends()) {
      state->join();
      return Lease{std::move(state)};
    }
    state->end();
  }
  const std::optional<LeaseRecord> present = record_to_heed(*ledger_, *state->lock, std::string{uuid}, name);
  if (present) {
    require_loan(*ledger_, *present, name, now);
  }
  state->holding = std::make_shared<Holding>();
  state->holding->record = begun(uuid, name, term, present);
  state->holding->borrowed = present.has_value();
  const std::int64_t lease = state->holding->ours().lease;
  state->lock->hold(lease);
  try {
    state->join();
  } catch (...) {
    state->lock->let_go(lease);
    throw;
  }
  held->holding = state->holding;
  return Lease{std::move(state)};
}

bool LeaseBook::has_one(std::string_view uuid) const {
  const GpuLock::Work work = ledger_->lock(uuid)->begin_work(clock_, work_patience);
  const std::shared_ptr<Holding> holding = held_by_this_process(*ledger_, uuid)->holding;
  return holding && !holding->over;
}

}  // namespace zeus::control
