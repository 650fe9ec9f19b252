// When a process began, which tells it from a later one with the same process ID. Safe from any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace zeus::drivers {

// In clock ticks since boot; nothing if there is no such process.
std::optional<std::uint64_t> process_start(std::int64_t process);

}  // namespace zeus::drivers
