// The recent power of one GPU on a grid of time that is the same for all GPUs of one kind. Two such rows show whether
// two GPUs work in step: whether their power changes in the same way at the same time. Plain values and pure functions;
// call them from any thread.
#pragma once

#include "measure/history.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zeus::measure {

struct RecentLoad {
  std::int64_t cell_ns = 0;  // the length of the grid's cells; 0 if nothing is known
  std::size_t count = 0;
  // The cells in which the counter was followed, oldest first: their numbers, counted from the clock's zero, and the
  // energy in each (J).
  std::array<std::int64_t, History::ticks_kept> cells = {};
  std::array<float, History::ticks_kept> energies = {};
};

// From the ticks of a history. A cell is shorter than the time between ticks, so that few of them in a row have a whole
// one.
RecentLoad recent_load(const History& history);

// The correlation of the two loads, from -1 to 1. While too few changes have been seen of both, it is taken for closer
// to 1: GPUs that one process measures mostly do the same.
double in_step(const RecentLoad& a, const RecentLoad& b);

}  // namespace zeus::measure
