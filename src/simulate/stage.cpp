#include "simulate/stage.hpp"

#include "base/random.hpp"
#include "optimize/recurrence/judgement.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::simulate {

namespace {

constexpr Seconds profiling_time{5.0};

}  // namespace

Stage::Stage(const Workload& workload, double eta)
    : workload_{&workload},
      cost_{eta, workload.max_power},
      optimum_{simulate::optimum(workload, cost_)},
      default_{simulate::default_configuration(workload, cost_)} {
  for (const WorkloadArm& arm : workload.arms) {
    Table table{.epoch_costs = {},
                .cheapest = optimize::cheapest_limit(cost_, arm.limits),
                .mean_epochs = arm.ever_reaches(workload.max_epochs) ? arm.mean_epochs(workload.max_epochs) : 0.0,
                .profiling_epoch = optimize::mean_epoch(arm.limits)};
    for (const records::LimitProfile& profile : arm.limits) {
      table.epoch_costs.push_back(cost_.of_epoch(profile));
    }
    tables_.push_back(std::move(table));
  }
}

Stage::Draw Stage::draw(std::size_t arm, std::uint64_t seed, std::uint64_t nth) const {
  const WorkloadArm& known = workload_->arms[arm];
  Random draw{seed, nth, static_cast<std::uint32_t>(known.batch_size)};
  const std::size_t which = draw.below(known.runs.size());
  const Mishap mishap = known.mishaps.empty() ? Mishap{} : known.mishaps[which];
  return {.needed = mishap.misses ? std::nullopt : known.runs[which], .mishap = mishap};
}

TryResult Stage::run(const records::TryPlan& action, std::uint64_t seed, std::uint64_t nth,
                     const std::optional<UnderWay>& under_way) const {
  TryResult result{
      .arm = workload_->arm_of(action.batch_size), .energy = {}, .time = {}, .cost = {}, .expected_cost = {}};
  const WorkloadArm& arm = workload_->arms[result.arm];
  const Table& table = tables_[result.arm];
  const auto& [needed, mishap] = draw(result.arm, seed, nth);
  const bool settable = !mishap.left_alone && !mishap.not_measured;
  result.left_out = mishap.left_alone;
  result.profiled = !action.limit && settable;
  result.limit = !settable      ? arm.limits.size() - 1
                 : action.limit ? workload_->limit_of(result.arm, *action.limit)
                                : table.cheapest;
  if (result.limit == arm.limits.size()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("batch size {} of {} was not measured at {} W", arm.batch_size, workload_->name,
                            action.limit->value()),
                "replay a trace that has all limits of all batch sizes"};
  }
  const Joules epoch_cost = table.epoch_costs[result.limit];
  const records::LimitProfile& profile = arm.limits[result.limit];
  const records::LimitProfile& first = table.profiling_epoch;
  const Joules extra = result.profiled ? cost_.of_epoch(first) - epoch_cost : Joules{};
  const Joules before = under_way ? cost_.of(under_way->energy, under_way->time) : Joules{};
  const optimize::Judgement judgement{
      .target = {}, .max_epochs = action.max_epochs, .job_epochs = workload_->max_epochs, .budget = action.budget};
  const optimize::Judgement::Foreseen end =
      under_way ? judgement.foresee(needed, epoch_cost, before + extra, action.limit ? 0 : 1)
                : judgement.foresee(needed, epoch_cost);
  const bool crashes = mishap.crashes_after && *mishap.crashes_after < end.epochs;
  result.outcome = crashes ? records::TryOutcome::lost : end.outcome;
  result.epochs = crashes ? *mishap.crashes_after : end.epochs;
  result.time = profile.epoch_time * result.epochs;
  result.energy = profile.average_power * result.time;
  const bool measured = result.profiled && result.epochs > 0;
  if (measured) {
    result.time += first.epoch_time - profile.epoch_time;
    result.energy += first.average_power * first.epoch_time - profile.average_power * profile.epoch_time;
  }
  if (under_way) {
    result.time += under_way->time;
    result.energy += under_way->energy;
  }
  result.cost = cost_.of(result.energy, result.time);
  result.expected_cost = reached(result.outcome)
                             ? expected_cost(result.arm, result.limit) + (measured ? extra : Joules{}) + before
                             : result.cost;
  return result;
}

ProfilingResult Stage::profile(const records::ProfileAsked& action) const {
  const WorkloadArm& arm = workload_->arms[workload_->arm_of(action.batch_size)];
  const auto shares = static_cast<double>(arm.limits.size());
  ProfilingResult result{.limits = {}, .energy = {}, .time = {}};
  for (const records::LimitProfile& profile : arm.limits) {
    if (std::ranges::find(action.limits, profile.limit) == action.limits.end()) {
      continue;
    }
    const Seconds time = std::min(profiling_time, profile.epoch_time / shares);
    result.limits.push_back(profile);
    result.time += time;
    result.energy += profile.average_power * time;
  }
  return result;
}

}  // namespace zeus::simulate
