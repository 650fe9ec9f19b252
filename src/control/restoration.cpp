#include "control/restoration.hpp"

#include "control/claim_end.hpp"
#include "control/put_back.hpp"
#include "control/side_by_side.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace zeus::control {

using device::DiscoveredGpu;
using Result = Restoration::Result;

namespace {

// How long a worker may delay putting a GPU back once its lease has run out.
constexpr Seconds overdue_patience{1};

// Whether `worker` has a claim to this GPU that has run out.
bool is_overdue(std::int64_t worker, const LeaseRecord& record, Instant now) {
  const Claim* const child = record.child();
  return (worker == record.holder.pid && now >= record.expires) ||
         (child != nullptr && worker == child->holder.pid && now >= std::min(child->expires, record.expires));
}

// Begins work on the GPU. Nothing if the overdue process itself is at work on it, stopped or hanging in the driver:
// then the GPU is put back without waiting, and the holder notices (Lease).
std::optional<GpuLock::Work> begin(const Ledger& ledger, const LeaseRecord& record, Clock& clock, Seconds patience) {
  const std::shared_ptr<GpuLock> lock = ledger.lock(record.gpu);
  const Seconds at_first = std::min(overdue_patience, patience);
  try {
    return lock->begin_work(clock, at_first);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::timeout && is_overdue(lock->worker(), record, clock.now())) {
      return std::nullopt;
    }
  }
  return lock->begin_work(clock, patience - at_first);
}

auto find(const std::string& uuid, std::span<const DiscoveredGpu> gpus) {
  return std::ranges::find(gpus, uuid, [](const DiscoveredGpu& one) { return one.gpu->identity().uuid; });
}

std::string name_of(const std::string& uuid, std::span<const DiscoveredGpu> gpus) {
  const auto gpu = find(uuid, gpus);
  return gpu != gpus.end() ? to_text(*gpu) : uuid;
}

Restoration restore(const Ledger& ledger, const std::string& uuid, std::span<const DiscoveredGpu> gpus, Clock& clock,
                    Seconds patience) {
  Restoration restoration{uuid, name_of(uuid, gpus), Result::failed, {}, {}};
  std::optional<LeaseRecord> record;
  Standing standing = Standing::held;
  const auto look = [&] {
    record = ledger.read(uuid);
    standing = record ? ledger.standing(*record, clock.now()) : Standing::held;
    restoration.claim = record;
  };
  look();
  if (standing == Standing::held) {
    restoration.result = Result::held;
    return restoration;
  }
  const std::optional<GpuLock::Work> work = begin(ledger, *record, clock, patience);
  look();
  if (standing == Standing::held) {
    restoration.result = Result::held;  // another process has put it back meanwhile, and perhaps leased it
    return restoration;
  }
  const ClaimEnd ending = standing == Standing::child_abandoned ? end_of_child(*record) : end_of_lease(*record);
  restoration.claim = standing == Standing::child_abandoned ? *record->child() : *record;
  restoration.claim->found = ending.put_back;
  const bool past = standing == Standing::past;
  if (!past) {
    const auto gpu = find(uuid, gpus);
    if (gpu == gpus.end()) {
      restoration.why = "this GPU cannot be seen from here";
      return restoration;
    }
    if (std::optional<std::string> failure = put_back(ending.put_back, *gpu)) {
      restoration.why = std::move(*failure);
      return restoration;
    }
  }
  // The note first: a process that is killed between the two leaves a record that is restored, and noted, again.
  if (!past && restoration.claim->client && !ending.put_back.empty()) {
    LeaseRecord note = *record;
    static_cast<Claim&>(note) = *restoration.claim;
    note.lending.reset();
    ledger.leave_note(note);
  }
  ledger.settle(*record, ending);
  restoration.result = past ? Result::past : Result::restored;
  return restoration;
}

}  // namespace

std::string_view to_string(Result result) {
  switch (result) {
    case Result::restored:
      return "restored";
    case Result::held:
      return "held";
    case Result::past:
      return "past";
    case Result::forgotten:
      return "forgotten";
    case Result::failed:
      break;
  }
  return "failed";
}

std::vector<Restoration> restore_abandoned(const Ledger& ledger, std::span<const DiscoveredGpu> gpus, Clock& clock,
                                           const std::optional<std::string>& only, Seconds patience) {
  std::vector<Restoration> restorations;
  for (const std::string& uuid : ledger.gpus()) {
    if (!only || uuid == *only) {
      restorations.push_back({uuid, name_of(uuid, gpus), Result::held, std::nullopt, {}});
    }
  }
  const auto restore_one = [&](Restoration& one) {
    try {
      one = restore(ledger, one.gpu, gpus, clock, patience);
    } catch (const std::exception& error) {
      one = {one.gpu, one.name, Result::failed, std::nullopt, error.what()};
    }
  };
  if (restorations.size() == 1) {
    restore_one(restorations[0]);
  } else {
    SideBySide all{clock};
    for (Restoration& one : restorations) {
      all.start(one.gpu, [&] { restore_one(one); });
    }
  }
  // Leaves out records that had vanished before the work on their GPU began.
  std::erase_if(restorations, [](const Restoration& one) { return !one.claim && one.result == Result::held; });
  return restorations;
}

void forget(const Ledger& ledger, Restoration& failed, Clock& clock, Seconds patience) {
  const GpuLock::Work work = ledger.lock(failed.gpu)->begin_work(clock, patience);
  const std::optional<LeaseRecord> record = ledger.read(failed.gpu);
  if (record && ledger.standing(*record, clock.now()) != Standing::abandoned) {
    failed.result = Result::held;
    return;
  }
  ledger.remove(failed.gpu);
  failed.result = Result::forgotten;
}

void clear_begun(const Ledger& ledger, Clock& clock) {
  for (const std::string& gpu : ledger.begun()) {
    try {
      // The end of this work removes the lock.
      const GpuLock::Work work = ledger.lock(gpu)->begin_work(clock, overdue_patience);
      if (!ledger.read(gpu)) {
        ledger.remove(gpu);
      }
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace zeus::control
