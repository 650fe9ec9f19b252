#include "train/stopping.hpp"

#include "optimize/recurrence/judgement.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace zeus::train {

void check_stopping(const TrainingOptions& options) {
  if (options.stopping.target && !std::isfinite(options.stopping.target->metric)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the target metric is {}", options.stopping.target->metric),
                "give a finite number"};
  }
  if (options.stopping.max_epochs && *options.stopping.max_epochs == 0) {
    throw Error{ErrorKind::invalid_argument, "the maximum of epochs is 0",
                "let it train for at least one, or leave it out"};
  }
  if (options.stopping.cost_limit && !(*options.stopping.cost_limit > Joules{0})) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the cost limit is {} J", options.stopping.cost_limit->value()),
                "give more than 0, or leave it out"};
  }
}

std::optional<StopReason> stop_reason_of(const TrainingOptions& options, const TrainingProgress& progress) {
  const auto count = [](std::uint64_t epochs) {
    return static_cast<int>(std::min<std::uint64_t>(epochs, std::numeric_limits<int>::max()));
  };
  optimize::Judgement judgement{.target = {}, .max_epochs = {}, .budget = {}};
  if (options.stopping.target) {
    judgement.target = {.metric = options.stopping.target->metric,
                        .higher_is_better = options.stopping.target->higher_is_better};
  }
  if (options.stopping.max_epochs) {
    judgement.max_epochs = count(*options.stopping.max_epochs);
    judgement.job_epochs = *judgement.max_epochs;
  }
  if (progress.epochs > 0 && progress.cost) {
    judgement.budget = options.stopping.cost_limit;
  }
  if (progress.metric && judgement.reaches(*progress.metric)) {
    return StopReason::target_reached;
  }
  const std::optional<records::TryOutcome> outcome =
      judgement.after_epoch(count(progress.epochs), progress.cost.value_or(Joules{}), progress.next_cost);
  if (!outcome) {
    return std::nullopt;
  }
  return *outcome == records::TryOutcome::exhausted ? StopReason::epochs_used_up : StopReason::too_expensive;
}

double better(const TrainingTarget& target, double a, double b) {
  return target.higher_is_better ? std::max(a, b) : std::min(a, b);
}

}  // namespace zeus::train
