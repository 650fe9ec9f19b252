#include "train/tuning_plan.hpp"

#include "optimize/power_limit/goal_plan.hpp"
#include "optimize/power_limit/limit_grid.hpp"
#include "optimize/power_limit/setting_range.hpp"
#include "train/shared_plan.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace zeus::train {

namespace {

// Those that a policy allows on every GPU. Throws an Error if it refuses all of them, and warns if it refuses some.
std::vector<Watts> without_refused(const TunerParts& parts, std::vector<Watts> limits) {
  const std::size_t possible = limits.size();
  const auto bounds = parts.ranks.alone() ? parts.group.allowed() : parts.fleet.allowed;
  for (const std::vector<device::WattRange>& ranges : bounds) {
    std::erase_if(limits, [&ranges](Watts limit) { return !device::hold(ranges, limit); });
  }
  if (limits.size() == possible) {
    return limits;
  }
  if (limits.empty()) {
    throw Error{ErrorKind::permission_denied, "the node's policy allows none of the power limits to try",
                "`zeusd policy explain` shows its bounds"};
  }
  parts.reporter.warn(fmt::format(
      "the node's policy allows {} of {} power limits to try, and the choice is among these", limits.size(), possible));
  return limits;
}

std::unique_ptr<optimize::PowerLimitPlan> leaders_plan(const TunerParts& parts,
                                                       const std::optional<records::PowerProfile>& known) {
  const TrainingOptions& options = parts.options;
  const optimize::LimitGrid grid{.step = options.profiling.limit_step,
                                 .lowest = options.profiling.lowest_limit,
                                 .highest = options.profiling.highest_limit,
                                 .limits = options.profiling.limits};
  const optimize::SettingRange range{
      without_refused(parts, limits_to_try(grid, parts.fleet.lowest, parts.fleet.highest, parts.fleet.found)),
      options.profiling.try_clocks ? parts.fleet.clocks : std::vector<Megahertz>{}};
  optimize::PlanWish wish{.goal = options.goal,
                          .profiling = options.profiling.plan,
                          .cost = optimize::EnergyTimeCost{options.eta, parts.fleet.max_power},
                          .training_steps = {},
                          .known = known,
                          .predicted_from = predicted_from(parts),
                          .may_end_soon = parts.may_end_soon};
  if (options.steps_per_epoch && options.stopping.max_epochs) {
    wish.training_steps = *options.steps_per_epoch * *options.stopping.max_epochs;
  }
  return optimize::make_plan(range, wish);
}

}  // namespace

std::optional<records::PowerSetting> predicted_from(const TunerParts& parts) {
  if (parts.options.mode != TrainingMode::observe || !parts.fleet.found) {
    return std::nullopt;
  }
  return records::PowerSetting{.limit = *parts.fleet.found, .clock = std::nullopt};
}

std::unique_ptr<optimize::PowerLimitPlan> plan_for(const TunerParts& parts,
                                                   const std::optional<records::PowerProfile>& known) {
  std::unique_ptr<optimize::PowerLimitPlan> plan;
  std::string why;
  if (parts.ranks.leads()) {
    try {
      plan = leaders_plan(parts, known);
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  parts.ranks.share(why);
  if (!why.empty()) {
    throw AgreedFailure{ErrorKind::invalid_argument, why, {}};
  }
  if (!parts.ranks.alone()) {
    plan = std::make_unique<SharedPlan>(std::move(plan), parts.ranks);
  }
  return plan;
}

}  // namespace zeus::train
