#include "control/restoration.hpp"

#include "control/put_back.hpp"
#include "device/inventory.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::control {

using device::DiscoveredGpu;
using Result = Restoration::Result;

namespace {

// How long whoever works on a GPU may stand in the way of putting it back, once its lease has run out.
constexpr Seconds overdue_patience{1};

// Nothing when the holder of this record is overdue and stands in the way itself: stopped, or hanging in the driver,
// while it works. Then it is put back without waiting; the holder finds out (Lease).
std::optional<GpuLock::Work> begin(const Ledger& ledger, const LeaseRecord& record, Clock& clock) {
  const std::shared_ptr<GpuLock> lock = ledger.lock(record.gpu);
  try {
    return lock->begin_work(clock, overdue_patience);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::timeout && clock.now() >= record.expires && lock->worker() == record.holder.pid) {
      return std::nullopt;
    }
  }
  return lock->begin_work(clock, work_patience - overdue_patience);
}

auto find(const std::string& uuid, std::span<const DiscoveredGpu> gpus) {
  return std::ranges::find(gpus, uuid, [](const DiscoveredGpu& one) { return one.gpu->identity().uuid; });
}

std::string name_of(const std::string& uuid, std::span<const DiscoveredGpu> gpus) {
  const auto gpu = find(uuid, gpus);
  return gpu != gpus.end() ? to_text(*gpu) : uuid;
}

Restoration restore(const Ledger& ledger, const std::string& uuid, std::span<const DiscoveredGpu> gpus, Clock& clock) {
  Restoration restoration{uuid, name_of(uuid, gpus), Result::failed, ledger.read(uuid), {}};
  const auto standing = [&] { return ledger.standing(*restoration.record, clock.now()); };
  if (!restoration.record || standing() == Standing::held) {
    restoration.result = Result::held;
    return restoration;
  }
  const std::optional<GpuLock::Work> work = begin(ledger, *restoration.record, clock);
  restoration.record = ledger.read(uuid);
  if (!restoration.record || standing() == Standing::held) {
    restoration.result = Result::held;  // somebody else has put it back meanwhile, and taken it perhaps
    return restoration;
  }
  const bool past = standing() == Standing::past;
  if (!past) {
    const auto gpu = find(uuid, gpus);
    if (gpu == gpus.end()) {
      restoration.why = "this GPU cannot be seen from here";
      return restoration;
    }
    if (std::optional<std::string> failure = put_back(restoration.record->found, *gpu)) {
      restoration.why = std::move(*failure);
      return restoration;
    }
  }
  ledger.remove(uuid);
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
    case Result::failed:
      break;
  }
  return "failed";
}

std::vector<Restoration> restore_abandoned(const Ledger& ledger, std::span<const DiscoveredGpu> gpus, Clock& clock,
                                           const std::optional<std::string>& only) {
  std::vector<Restoration> restorations;
  for (const std::string& uuid : ledger.gpus()) {
    if (only && uuid != *only) {
      continue;
    }
    try {
      Restoration restoration = restore(ledger, uuid, gpus, clock);
      if (restoration.record) {
        restorations.push_back(std::move(restoration));
      }
    } catch (const Error& error) {
      restorations.push_back({uuid, name_of(uuid, gpus), Result::failed, std::nullopt, error.what()});
    }
  }
  return restorations;
}

void clear_begun(const Ledger& ledger, Clock& clock) {
  for (const std::string& gpu : ledger.begun()) {
    try {
      // Whose work ends last removes the lock.
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
