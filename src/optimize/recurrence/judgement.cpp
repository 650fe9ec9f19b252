#include "optimize/recurrence/judgement.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

using records::TryOutcome;

void EpochCosts::over(int epochs_over, Joules cost_so_far) {
  if (epochs > 0 && epochs_over > epochs) {
    const Joules took = (cost_so_far - cost) / static_cast<double>(epochs_over - epochs);
    cheapest = std::min(cheapest.value_or(took), took);
  }
  epochs = epochs_over;
  cost = cost_so_far;
}

bool Judgement::reaches(double metric) const {
  return target && std::isfinite(metric) &&
         (target->higher_is_better ? metric >= target->metric : metric <= target->metric);
}

std::optional<TryOutcome> Judgement::after_epoch(int epochs, Joules cost, std::optional<Joules> next) const {
  if (max_epochs && epochs >= *max_epochs) {
    return epochs >= job_epochs ? TryOutcome::exhausted : TryOutcome::stopped;
  }
  return meanwhile(cost + next.value_or(Joules{}));
}

std::optional<TryOutcome> Judgement::after_report(EpochCosts& costs, int epochs, Joules cost,
                                                  std::optional<double> metric, std::optional<Joules> next) const {
  costs.over(epochs, cost);
  if (metric && reaches(*metric)) {
    return TryOutcome::reached;
  }
  return after_epoch(epochs, cost, next ? next : costs.cheapest);
}

std::optional<TryOutcome> Judgement::meanwhile(Joules cost) const {
  return budget && cost > *budget ? std::optional{TryOutcome::stopped} : std::nullopt;
}

TryOutcome Judgement::at_end(bool failed, bool metric_seen) const {
  if (failed) {
    return TryOutcome::lost;
  }
  if (!target) {
    return TryOutcome::reached;
  }
  // The try ran to its end: its metric was seen and is short of the target, or no metric was seen.
  return metric_seen ? TryOutcome::exhausted : TryOutcome::lost;
}

Judgement::Foreseen Judgement::foresee(std::optional<int> needed, Joules epoch, Joules beside, int at_least) const {
  const std::optional<Joules> left = budget ? std::optional{*budget - beside} : std::nullopt;
  const int most = max_epochs.value_or(job_epochs);
  const int allowed = std::max(epochs_within(left, epoch, most), std::min(at_least, most));
  if (needed && *needed <= allowed) {
    return {.outcome = TryOutcome::reached, .epochs = *needed};
  }
  return {.outcome = allowed < job_epochs ? TryOutcome::stopped : TryOutcome::exhausted, .epochs = allowed};
}

int epochs_within(std::optional<Joules> budget, Joules epoch_cost, int max_epochs) {
  if (!budget || !(epoch_cost > Joules{})) {
    return max_epochs;
  }
  const double epochs = std::floor(*budget / epoch_cost);
  return epochs >= max_epochs ? max_epochs : static_cast<int>(std::max(epochs, 0.0));
}

TryOutcome outcome_of_crash(bool is_default, bool has_worked, bool others_have_worked) {
  return !is_default && !has_worked && others_have_worked ? TryOutcome::exhausted : TryOutcome::lost;
}

}  // namespace zeus::optimize
