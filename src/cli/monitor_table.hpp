// The table of `zeus monitor` for a person, fitted to a terminal. Pure functions; call them from any thread.
#pragma once

#include "cli/monitor_view.hpp"
#include "cli/text_columns.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace zeus::cli {

// With a screen: bars, bold type and colour as it has them, and never more columns or rows than it has; columns are
// left out in the order in which they are missed least. Without: everything, plain.
std::string moment_table(const MonitorMoment& moment, const std::optional<Screen>& screen);

// How many GPUs the table has place for.
std::size_t gpu_rows(const MonitorMoment& moment, const Screen& screen);

}  // namespace zeus::cli
