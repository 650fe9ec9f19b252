// The table of `zeus monitor` for a person, fitted to a terminal. Pure functions; call them from any thread.
#pragma once

#include "cli/monitor_view.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace zeus::cli {

// What a terminal can hold, in characters.
struct Screen {
  int columns = 80;
  int rows = 24;
  bool colour = true;
  bool bars = true;
  bool keys = false;          // somebody can scroll, and is told so
  std::size_t first_gpu = 0;  // what GPUs begin with where there is no place for all
};

// Enough for whatever there is.
inline constexpr int all_rows = 100'000;

// With a screen: bars, bold type and colour as it has them, and never more columns or rows than it has; columns are
// left out in the order in which they are missed least. Without: everything, plain.
std::string moment_table(const MonitorMoment& moment, const std::optional<Screen>& screen);

// How many GPUs the table has place for.
std::size_t gpu_rows(const MonitorMoment& moment, const Screen& screen);

}  // namespace zeus::cli
