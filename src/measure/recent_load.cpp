#include "measure/recent_load.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double enough_changes = 12;

void add_cell(RecentLoad& load, std::int64_t cell, Joules energy) {
  if (load.count == load.cells.size()) {
    std::shift_left(load.cells.begin(), load.cells.end(), 1);
    std::shift_left(load.energies.begin(), load.energies.end(), 1);
    --load.count;
  }
  load.cells[load.count] = cell;
  load.energies[load.count] = static_cast<float>(energy.value());
  ++load.count;
}

}  // namespace

RecentLoad recent_load(const History& history) {
  RecentLoad load;
  if (!history.period) {
    return load;
  }
  const auto period = static_cast<std::uint64_t>(history.period->value() * 1e9);
  load.cell_ns = static_cast<std::int64_t>(std::bit_floor(std::max<std::uint64_t>(period, 1)));
  bool followed = false;  // since the start of the present cell
  Joules at_start;
  for (std::size_t i = 1; i < history.ticks.size(); ++i) {
    const Tick& before = history.ticks[i - 1];
    const Tick& tick = history.ticks[i];
    if (!tick.follows) {
      followed = false;
      continue;
    }
    const Instant from = before.middle();
    const Watts power = (tick.total - before.total) / (tick.middle() - from);
    const std::int64_t last = tick.middle().nanoseconds / load.cell_ns;
    for (std::int64_t cell = from.nanoseconds / load.cell_ns; cell < last; ++cell) {
      const Joules at_end = before.total + power * (Instant{(cell + 1) * load.cell_ns} - from);
      if (followed) {
        add_cell(load, cell, at_end - at_start);
      }
      followed = true;
      at_start = at_end;
    }
  }
  return load;
}

double in_step(const RecentLoad& a, const RecentLoad& b) {
  if (a.cell_ns != b.cell_ns) {
    return 1.0;
  }
  double both = 0;
  double of_a = 0;
  double of_b = 0;
  double cells = 0;
  double former_a = 0;
  double former_b = 0;
  for (std::size_t i = 0, j = 0; i < a.count && j < b.count;) {
    if (a.cells[i] != b.cells[j]) {
      ++(a.cells[i] < b.cells[j] ? i : j);
      continue;
    }
    const double change_a = a.energies[i] - former_a;
    const double change_b = b.energies[j] - former_b;
    if (cells > 0) {
      both += change_a * change_b;
      of_a += change_a * change_a;
      of_b += change_b * change_b;
    }
    former_a = a.energies[i++];
    former_b = b.energies[j++];
    ++cells;
  }
  const double correlation = of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 1.0;
  const double known = std::clamp((cells - 1.0) / enough_changes, 0.0, 1.0);
  return known * correlation + (1.0 - known);
}

}  // namespace zeus::measure
