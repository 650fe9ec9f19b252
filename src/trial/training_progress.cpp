#include "trial/training_progress.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::trial {

void TrainingProgress::take(const Progress& progress, Instant now) {
  if (const auto* steps = std::get_if<StepsDone>(&progress)) {
    if (steps->timed) {
      if (std::exchange(steps_timed_, true)) {
        timed_steps_ += steps->count;
      } else {
        first_step_ = now;
      }
      last_step_ = now;
    }
    steps_ += steps->count;
    epoch_steps_ += steps->count;
  } else if (const auto* epochs = std::get_if<EpochsDone>(&progress)) {
    end_epochs(epochs->count, now);
  } else if (const double value = std::get<MetricSeen>(progress).value; std::isfinite(value)) {
    metric_ = value;
  } else {
    diverged_ = true;
  }
}

void TrainingProgress::end_epochs(std::uint64_t count, Instant now) {
  constexpr std::uint64_t most = 1'000'000;
  if (epoch_steps_ > 0) {
    // Steps that are all seen at once say nothing of their time. Evaluation is never taken to be longer than training.
    const Seconds tail = now - last_step_;
    const Seconds trained = last_step_ - first_step_;
    const auto all_to_timed =
        static_cast<double>(epoch_steps_) / static_cast<double>(std::max<std::uint64_t>(timed_steps_, 1));
    last_beside_steps_ = trained > Seconds{} ? std::clamp(tail / (trained * all_to_timed), 0.0, 1.0) : 0.0;
    if (!steps_per_epoch_) {
      steps_per_epoch_ = std::max<std::uint64_t>(epoch_steps_ / count, 1);
      beside_steps_ = last_beside_steps_;
    }
  }
  epochs_ = static_cast<int>(std::min(static_cast<std::uint64_t>(epochs_) + count, most));
  epoch_steps_ = 0;
  timed_steps_ = 0;
  steps_timed_ = false;
}

std::optional<Seconds> TrainingProgress::step_time() const {
  if (timed_steps_ == 0) {
    return std::nullopt;
  }
  return (last_step_ - first_step_) / static_cast<double>(timed_steps_);
}

}  // namespace zeus::trial
