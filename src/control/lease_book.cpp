#include "control/lease_book.hpp"

#include "base/log.hpp"
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

}  // namespace

LeaseBook::LeaseBook(Ledger ledger, std::vector<DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock)
    : ledger_{std::make_shared<const Ledger>(std::move(ledger))},
      gpus_{std::move(gpus)},
      guardian_{std::move(guardian)},
      clock_{clock} {
}

void LeaseBook::restore_what_was_left() {
  for (const Restoration& one : restore_abandoned(*ledger_, gpus_, clock_)) {
    if (one.result == Restoration::Result::restored) {
      log::warning(fmt::format("{} was put back to {}, which {} had left changed", one.name, to_text(one.record->found),
                               to_text(one.record->holder)));
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
    if (now < state->holding->record.expires) {
      state->join();
      return Lease{std::move(state)};
    }
    state->end();
  }
  if (const std::optional<LeaseRecord> present = record_to_heed(*ledger_, *state->lock, std::string{uuid}, name)) {
    if (ledger_->standing(*present, now) == Standing::held) {
      throw Error{ErrorKind::conflict,
                  fmt::format("{} is leased by {}, for {:.0f} s more unless renewed", name, to_text(present->holder),
                              (present->expires - now).value()),
                  "go on without setting it, or wait until that process is done"};
    }
    throw Error{ErrorKind::unavailable,
                fmt::format("{} could not be put back to what {} had found: {}", name, to_text(present->holder),
                            to_text(present->found)),
                "`zeus restore` says why"};
  }
  state->holding = std::make_shared<Holding>();
  state->holding->record = {
      std::string{uuid}, name, ledger_->boot(), now.nanoseconds, now + term, this_holder(ledger_->machine()), {}};
  const std::int64_t lease = state->holding->record.lease;
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
