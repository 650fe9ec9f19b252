// What the guardian does, from its start to its end: opens the devices, says that it is ready, and waits. When its
// holder dies, however that happens, or does not renew a lease in time, it puts back what the records say, and at its
// start what other dead holders have left: GPUs side by side, so that one that hangs in its driver holds up no other.
// It ends when its holder is gone and nothing of it is left to put back, or cannot be for a minute: what is left then
// waits for the next who takes a lease of that GPU, or for `zeus restore`. While a GPU of its holder hangs, it does
// not. One thread, which has others put GPUs back; a process of its own.
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
