// From what the user wants to the plan that finds it, as every training gets it, live or simulated: by the selector of
// the goal, and, where the goal is a bound or a prediction is to be made, until what matters is known well enough. Pure
// but for a user's own selector. One owner, one thread.
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
  EnergyTimeCost cost;                          // what LeastCost is the least of
  std::optional<std::uint64_t> training_steps;  // of the whole training, where it is known beforehand
  std::optional<records::PowerProfile> known;   // is gone on from
  // A setting that has to be known well in the end, as the choice then has to be: what a prediction compares.
  std::optional<records::PowerSetting> predicted_from;
};

// A goal that makes no sense is an invalid_argument Error.
std::unique_ptr<PowerLimitPlan> make_plan(const SettingRange& range, const PlanWish& wish);

}  // namespace zeus::optimize
