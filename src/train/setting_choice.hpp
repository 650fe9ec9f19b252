// From what the user wants to a plan that finds it: which settings to try, by which selector, and, where the goal is a
// bound or a prediction is to be made, how well what matters has to be known. Pure but for a user's own selector. One
// owner, one thread.
#pragma once

#include "optimize/cost/selector.hpp"
#include "optimize/power_limit/power_limit_plan.hpp"
#include "optimize/power_limit/setting_range.hpp"
#include "records/power_profile.hpp"

#include <zeus/training_options.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace zeus::train {

// `max_power` is that of all GPUs together. A goal that makes no sense is an invalid_argument Error.
optimize::Selector selector_of(const PowerGoal& goal, Watts max_power);

// What the goal takes of these: the selector's choice, or, of MaxSlowdown, the least energy among those known to be
// fast enough. Nothing of none.
std::optional<records::PowerSetting> choose_setting(const PowerGoal& goal, Watts max_power,
                                                    std::span<const records::PowerMeasurement> measurements);

// The limits on the user's grid between `lowest` and `highest`, and `found` where it lies between them.
std::vector<Watts> limits_to_try(const TrainingOptions& options, Watts lowest, Watts highest,
                                 std::optional<Watts> found);

// Goes on from `known` where there is one. `predicted_from` is a setting that has to be known well in the end, as the
// choice then has to be: what a prediction compares.
std::unique_ptr<optimize::PowerLimitPlan> make_plan(const TrainingOptions& options, const optimize::SettingRange& range,
                                                    Watts max_power, const std::optional<records::PowerProfile>& known,
                                                    const std::optional<records::PowerSetting>& predicted_from);

}  // namespace zeus::train
