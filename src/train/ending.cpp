#include "train/ending.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::train {

void check_ending(const TrainingOptions& options) {
  if (options.target && !std::isfinite(options.target->metric)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the target metric is {}", options.target->metric),
                "give a finite number"};
  }
  if (options.max_epochs && *options.max_epochs == 0) {
    throw Error{ErrorKind::invalid_argument, "the maximum of epochs is 0",
                "let it train for at least one, or leave it out"};
  }
  if (options.cost_limit && !(*options.cost_limit > Joules{0})) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the cost limit is {} J", options.cost_limit->value()),
                "give more than 0, or leave it out"};
  }
}

std::optional<StopReason> ending_of(const TrainingOptions& options, const Progress& progress) {
  if (options.target && progress.metric &&
      better(*options.target, *progress.metric, options.target->metric) == *progress.metric) {
    return StopReason::target_reached;
  }
  if (options.max_epochs && progress.epochs >= *options.max_epochs) {
    return StopReason::epochs_used_up;
  }
  if (options.cost_limit && progress.epochs > 0 && progress.cost &&
      *progress.cost + progress.next_cost.value_or(Joules{0}) > *options.cost_limit) {
    return StopReason::too_dear;
  }
  return std::nullopt;
}

double better(const TrainingTarget& target, double a, double b) {
  return target.higher_is_better ? std::max(a, b) : std::min(a, b);
}

}  // namespace zeus::train
