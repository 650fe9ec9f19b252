// Makes the plan that finds what the user wants, for every training, live or simulated. The plan uses the goal's
// selector. If the goal is a bound, or a prediction will be made, it measures until the settings concerned are known
// well enough. Pure, except for a user's own selector. One owner, one thread.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/power_limit/power_limit_plan.hpp"
#include "optimize/power_limit/setting_range.hpp"
#include "records/power_profile.hpp"

#include <zeus/power_choice.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace zeus::optimize {

struct PlanWish {
  PowerGoal goal;
  PowerProfiling profiling;
  EnergyTimeCost cost;                          // what LeastCost minimizes
  std::optional<std::uint64_t> training_steps;  // of the whole training, if known beforehand
  std::optional<records::PowerProfile> known;   // the plan continues from it
  // What a prediction compares with the choice: in the end both must be known well, if the range holds it.
  std::optional<records::PowerSetting> predicted_from;
  bool may_end_soon = false;  // as of AdaptivePlanOptions
};

// An invalid goal is an invalid_argument Error.
std::unique_ptr<PowerLimitPlan> make_plan(const SettingRange& range, const PlanWish& wish);

}  // namespace zeus::optimize
