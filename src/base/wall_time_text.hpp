// Civil time for people. A pure function; any thread.
#pragma once

#include "base/clock.hpp"

#include <string>

namespace zeus {

// "2026-11-21T18:00:00Z"; UTC, to the second. A time before 0 or beyond the year 9999 is shown as the nearest of these.
std::string to_text(WallTime time);

}  // namespace zeus
