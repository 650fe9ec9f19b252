// What a goal (zeus/power_choice.hpp) takes of settings that were measured. Pure but for a user's own selector.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/cost/selector.hpp"
#include "records/power_measurement.hpp"

#include <zeus/power_choice.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <span>
#include <vector>

namespace zeus::optimize {

// `cost` is what LeastCost is the least of. A goal that makes no sense is an invalid_argument Error.
Selector selector_of(const PowerGoal& goal, const EnergyTimeCost& cost);

// The selector's choice, or, of MaxSlowdown, the least energy among those known to be fast enough. Nothing of none.
std::optional<records::PowerSetting> choose_setting(const PowerGoal& goal, const EnergyTimeCost& cost,
                                                    std::span<const records::PowerMeasurement> measurements);

// Those that would save more than `choice` and are fast enough by their means, though not surely, and the fastest,
// which they are compared with; none where they are decided, and for goals other than MaxSlowdown. `choice` is one of
// `measurements`.
std::vector<records::PowerSetting> undecided(const PowerGoal& goal, const records::PowerSetting& choice,
                                             std::span<const records::PowerMeasurement> measurements);

}  // namespace zeus::optimize
