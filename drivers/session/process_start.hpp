// When a process started, which distinguishes it from a later process with the same ID. Any thread may call it.
#pragma once

#include <cstdint>
#include <optional>

namespace zeus::drivers {

// In clock ticks since boot; nothing if the process does not exist.
std::optional<std::uint64_t> process_start(std::int64_t process);

}  // namespace zeus::drivers
