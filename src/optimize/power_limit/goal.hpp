// What a goal (zeus/power_choice.hpp) chooses among measured settings. Pure, except for a user's own selector.
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

// `cost` is what LeastCost minimizes. An invalid goal is an invalid_argument Error.
Selector selector_of(const PowerGoal& goal, const EnergyTimeCost& cost);

// The selector's choice. For MaxSlowdown, the setting with the least energy among those known to be fast enough.
// Nothing if there is none.
std::optional<records::PowerSetting> choose_setting(const PowerGoal& goal, const EnergyTimeCost& cost,
                                                    std::span<const records::PowerMeasurement> measurements);

// For MaxSlowdown: the settings that would save more than `choice` and are fast enough by their means, though not
// surely, together with the fastest, which they are compared with. Empty if there are none, and for all other goals.
// `choice` is one of `measurements`.
std::vector<records::PowerSetting> undecided(const PowerGoal& goal, const records::PowerSetting& choice,
                                             std::span<const records::PowerMeasurement> measurements);

}  // namespace zeus::optimize
