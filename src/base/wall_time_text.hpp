// Civil time for people. Pure functions; any thread.
#pragma once

#include "base/clock.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace zeus {

// "2026-11-21T18:00:00Z"; UTC, to the second. A time before 0 or after the year 9999 is shown as the nearest of these.
std::string to_text(WallTime time);
// Reads what to_text() writes; nothing for anything else.
std::optional<WallTime> wall_time_from_text(std::string_view text);

}  // namespace zeus
