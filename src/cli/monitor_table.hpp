// The table of `zeus monitor` for a person, fitted to a terminal. Pure functions; call them from any thread.
#pragma once

#include "cli/monitor_view.hpp"
#include "cli/text_columns.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace zeus::cli {

// With a screen: bars, bold type and colour as the screen has them, within its columns and rows. If the screen is too
// narrow, the least useful columns are left out first. Without a screen: everything, plain.
std::string moment_table(const MonitorMoment& moment, const std::optional<Screen>& screen);

// How many GPUs fit in the table.
std::size_t gpu_rows(const MonitorMoment& moment, const Screen& screen);

}  // namespace zeus::cli
