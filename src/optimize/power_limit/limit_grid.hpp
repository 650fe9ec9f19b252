// Which power limits a user wants to have tried, and which of them GPUs allow. Pure; callable from any thread.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <vector>

namespace zeus::optimize {

struct LimitGrid {
  Watts step{25};                // from the highest limit down
  std::optional<Watts> lowest;   // of those that are allowed, without one
  std::optional<Watts> highest;  // the same
  std::vector<Watts> limits;     // these between the two and no others, where there are any
};

// The limits of the grid between `lowest` and `highest`, which all GPUs allow, and `found`, the one in force, where it
// lies between them. An invalid_argument Error where none can.
std::vector<Watts> limits_to_try(const LimitGrid& grid, Watts lowest, Watts highest, std::optional<Watts> found);

}  // namespace zeus::optimize
