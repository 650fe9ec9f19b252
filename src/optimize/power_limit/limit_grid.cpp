#include "optimize/power_limit/limit_grid.hpp"

#include "optimize/power_limit/setting_range.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::optimize {

std::vector<Watts> limits_to_try(const LimitGrid& grid, Watts lowest, Watts highest, std::optional<Watts> found) {
  const Watts low = std::max(lowest, grid.lowest.value_or(lowest));
  const Watts high = std::min(highest, grid.highest.value_or(highest));
  if (!(low <= high)) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("there is no power limit between {:.6g} W and {:.6g} W that all GPUs allow", low.value(),
                            high.value()),
                fmt::format("they have {:.6g} W to {:.6g} W in common", lowest.value(), highest.value())};
  }
  if (!grid.limits.empty()) {
    std::vector<Watts> limits = grid.limits;
    std::erase_if(limits, [&](Watts limit) { return limit < low || limit > high; });
    return limits;
  }
  const SettingRange range = SettingRange::of_steps(low, high, grid.step);
  std::vector<Watts> limits{range.limits().begin(), range.limits().end()};
  if (found && *found >= low && *found <= high && std::ranges::find(limits, *found) == limits.end()) {
    limits.push_back(*found);
  }
  return limits;
}

}  // namespace zeus::optimize
