// What `zeus watch` shows to people: a table fitted to a terminal, or lines for a log. Pure functions; any thread.
#pragma once

#include "cli/text_columns.hpp"
#include "cli/watch_view.hpp"

#include <cstddef>
#include <string>

namespace zeus::cli {

// If the screen is too narrow, the least useful columns are left out first.
std::string watch_table(const WatchMoment& moment, const Screen& screen);

// How many rows the table has, and how many fit.
std::size_t watch_rows(const WatchMoment& moment);
std::size_t watch_rows_shown(const WatchMoment& moment, const Screen& screen);

// One line for each device, missing node and sum; each begins with the time since the start.
std::string watch_lines(const WatchMoment& moment);

}  // namespace zeus::cli
