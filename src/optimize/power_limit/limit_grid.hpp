// The power limits that a user wants to try, restricted to those that the GPUs allow. Pure; any thread may call it.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <vector>

namespace zeus::optimize {

struct LimitGrid {
  Watts step{25};                // from the highest limit down
  std::optional<Watts> lowest;   // the lowest allowed limit by default
  std::optional<Watts> highest;  // the highest allowed limit by default
  std::vector<Watts> limits;     // if not empty, only these between the two
};

// The limits of the grid between `lowest` and `highest`, which all GPUs allow, and `found`, the limit in force, if it
// lies between them. An invalid_argument Error if no limit does.
std::vector<Watts> limits_to_try(const LimitGrid& grid, Watts lowest, Watts highest, std::optional<Watts> found);

}  // namespace zeus::optimize
