// Stretches of time whose mean power is known, one after another, and what may have happened within one of them, judged
// by its neighbours. Plain values and a pure function; call it from any thread.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>

namespace zeus::measure {

struct Cell {
  Instant from;
  Instant to;
  Watts power;

  [[nodiscard]] Seconds length() const { return to - from; }
};

struct Cells {
  static constexpr std::size_t most = 10;
  std::array<Cell, most> at;
  std::size_t count = 0;
};

// From a cell's beginning to an instant within it.
struct CellPath {
  Joules energy;
  Watts power;   // at the instant
  Joules stray;  // standard deviation of the energy in the middle of the cell
};

// A cell that lies between two levels that the load is seen to keep is a step from one to the other; one that is at a
// level itself is flat; of any other nothing is known but its mean, and that energy strays as it usually does, or by
// what its neighbours differ.
CellPath path_within(const Cells& cells, std::size_t here, Instant at, Joules usual_stray);

}  // namespace zeus::measure
