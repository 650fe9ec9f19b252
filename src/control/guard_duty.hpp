// The guardian's work, from start to end: it opens the devices, reports that it is ready, and waits. When its holder
// dies, in whatever way, or does not renew a lease in time, it puts back the settings in the records. At its start it
// also puts back what other dead holders have left. GPUs are put back side by side, so that one that hangs in its
// driver does not hold up the others. The guardian ends when its holder is gone and nothing of the holder's is left to
// put back, or when trying has failed for a minute; the next process that takes a lease of that GPU, or `zeus restore`,
// puts back the rest. It does not end while a GPU of its holder hangs. One thread, which starts others to put GPUs
// back; a process of its own.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace zeus::control {

// The first word of what the guardian writes to its holder once the holder can rely on it; the UUIDs of the GPUs that
// it sees follow, each after a space.
inline constexpr std::string_view guard_is_ready = "ready";

struct GuardDuty {
  Ledger ledger;
  std::int64_t holder = 0;    // the process to watch
  std::uint64_t started = 0;  // when it began: a later process with the same ID is another one
  FileDescriptor connection;  // to the holder, which sends a byte when records have changed
};

// True if nothing is left to put back.
bool stand_guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock);

}  // namespace zeus::control
