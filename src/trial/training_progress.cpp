#include "trial/training_progress.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::trial {

void TrainingProgress::take(const Progress& progress, Instant now) {
  if (const auto* steps = std::get_if<StepsDone>(&progress)) {
    take_steps(*steps, now);
  } else if (const auto* epochs = std::get_if<EpochsDone>(&progress)) {
    end_epochs(epochs->count, now);
  } else if (const double value = std::get<MetricSeen>(progress).value; std::isfinite(value)) {
    metric_ = value;
  } else {
    diverged_ = true;
  }
}

void TrainingProgress::take_steps(const StepsDone& steps, Instant now) {
  if (steps.changed) {
    forget_pace();
  }
  steps_ += steps.count;
  if (!steps.timed) {
    untimed_steps_ += steps.count;
    return;
  }
  // Steps without a time that others follow were before the first: they belong to its number.
  first_steps_ += std::exchange(untimed_steps_, 0);
  if (first_step_ && steps.begins) {
    between_steps_ += steps.count;
  } else if (first_step_) {
    timed_steps_ += steps.count;
    timed_ += now - last_step_;
  } else {
    first_steps_ += steps.count;
    first_step_ = now;
  }
  last_step_ = now;
}

void TrainingProgress::end_epochs(std::uint64_t count, Instant now) {
  constexpr std::uint64_t most = 1'000'000;
  if (const std::optional<Seconds> step = step_time(); step && *step > Seconds{} && !epoch_broken_) {
    const bool first = !epoch_began_;
    const Instant began = epoch_began_.value_or(*first_step_ - *step * static_cast<double>(first_steps_));
    const double part = 1.0 / static_cast<double>(count);
    last_epoch_ =
        Shape{.steps = static_cast<double>(first_steps_ + timed_steps_ + between_steps_ + untimed_steps_) * part,
              .length = (now - began) / *step * part};
    if (first) {
      first_epoch_ = last_epoch_;
    } else {
      later_epochs_.steps += last_epoch_->steps;
      later_epochs_.length += last_epoch_->length;
      ++later_count_;
    }
  }
  epochs_ = static_cast<int>(std::min(static_cast<std::uint64_t>(epochs_) + count, most));
  epoch_began_ = now;
  epoch_broken_ = false;
  begin_epoch();
}

void TrainingProgress::begin_epoch() {
  first_step_.reset();
  first_steps_ = 0;
  timed_steps_ = 0;
  timed_ = {};
  between_steps_ = 0;
  untimed_steps_ = 0;
}

// It was that of other work.
void TrainingProgress::forget_pace() {
  begin_epoch();
  first_epoch_.reset();
  last_epoch_.reset();
  later_epochs_ = {};
  later_count_ = 0.0;
}

double TrainingProgress::beside(const Shape& shape) {
  return std::clamp(shape.length / shape.steps - 1.0, 0.0, 1.0);
}

std::optional<EpochShape> TrainingProgress::shape() const {
  const std::optional<Shape> one = later_count_ > 0
                                       ? std::optional{Shape{.steps = later_epochs_.steps / later_count_,
                                                             .length = later_epochs_.length / later_count_}}
                                       : first_epoch_;
  if (!one) {
    return std::nullopt;
  }
  return EpochShape{.steps = one->length / (1.0 + beside(*one)), .beside_steps = beside(*one)};
}

std::optional<double> TrainingProgress::part_beside_steps() const {
  if (epochs_ == 0) {
    return std::nullopt;
  }
  const double beside = last_epoch_ ? TrainingProgress::beside(*last_epoch_) : 0.0;
  return beside / (1.0 + beside);
}

std::optional<Seconds> TrainingProgress::step_time() const {
  if (timed_steps_ == 0) {
    return std::nullopt;
  }
  return timed_ / static_cast<double>(timed_steps_);
}

}  // namespace zeus::trial
