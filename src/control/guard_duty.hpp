// What the guardian does, from its start to its end: opens the devices, says that it is ready, and waits. When its
// holder dies, however that happens, or does not renew a lease in time, it puts back what the records say. It ends when
// its holder is gone and nothing of it is left to put back, or cannot be for a minute: what is left then waits for the
// next who takes a lease, or for `zeus restore`.
// One thread, a process of its own.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace zeus::control {

// What the guardian says to its holder once it can be relied on.
inline constexpr std::string_view guard_is_ready = "ready";

struct GuardDuty {
  Ledger ledger;
  std::int64_t holder = 0;    // the process to watch
  std::uint64_t started = 0;  // when that one began: a later process of the same number is another one
  FileDescriptor connection;  // to the holder, which sends a byte when records have changed
};

// True when nothing is left to put back.
bool stand_guard(const GuardDuty& duty, std::span<device::Backend* const> backends, Clock& clock);

}  // namespace zeus::control
