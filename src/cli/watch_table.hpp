// What `zeus watch` shows, for people: a table fitted to a terminal, or lines to be kept. Pure functions; any thread.
#pragma once

#include "cli/text_columns.hpp"
#include "cli/watch_view.hpp"

#include <cstddef>
#include <string>

namespace zeus::cli {

// Columns are left out in the order in which they are missed least.
std::string watch_table(const WatchMoment& moment, const Screen& screen);

// How many rows the table has, and for how many of them there is place.
std::size_t watch_rows(const WatchMoment& moment);
std::size_t watch_rows_shown(const WatchMoment& moment, const Screen& screen);

// A line for each device, each missing node and each sum, all beginning with the time since the start.
std::string watch_lines(const WatchMoment& moment);

}  // namespace zeus::cli
