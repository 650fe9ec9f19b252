// When a process began, by which it is told from a later one with the same number. Safe from any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace zeus::drivers {

// In clock ticks since boot; nothing when there is no such process.
std::optional<std::uint64_t> process_start(std::int64_t process);

}  // namespace zeus::drivers
