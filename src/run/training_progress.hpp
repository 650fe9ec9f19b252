// How far a training has come, as far as it can be seen from outside. Pure: the time comes with what happened. One
// thread.
#pragma once

#include "base/clock.hpp"
#include "run/progress.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::run {

class TrainingProgress {
 public:
  void take(const Progress& progress, Instant now);

  [[nodiscard]] int epochs() const { return epochs_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The last one that is a number.
  [[nodiscard]] std::optional<double> metric() const { return metric_; }
  // Whether the metric was NaN or infinite at some time.
  [[nodiscard]] bool diverged() const { return diverged_; }

  // Of the first epoch that has ended; nothing before that. Where every tenth step is told of, epochs seem to differ by
  // as much, and what is measured in one and in another is still to be comparable.
  [[nodiscard]] std::optional<std::uint64_t> steps_per_epoch() const { return steps_per_epoch_; }
  // How much longer that epoch was than its steps, evaluation and the like: 0.1 for a tenth of the steps' time.
  [[nodiscard]] double beside_steps() const { return beside_steps_; }
  // The same of the last epoch, as a part of it; nothing before the end of one.
  [[nodiscard]] std::optional<double> part_beside_steps() const {
    return epochs_ > 0 ? std::optional{last_beside_steps_ / (1.0 + last_beside_steps_)} : std::nullopt;
  }

  // Mean time of a step in this epoch so far; nothing before the second word of a step.
  [[nodiscard]] std::optional<Seconds> step_time() const;

 private:
  void end_epochs(std::uint64_t count, Instant now);

  Instant first_step_;
  Instant last_step_;
  int epochs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epoch_steps_ = 0;
  std::uint64_t timed_steps_ = 0;  // of them, between the first word and the last
  std::optional<double> metric_;
  bool diverged_ = false;
  std::optional<std::uint64_t> steps_per_epoch_;
  double beside_steps_ = 0.0;
  double last_beside_steps_ = 0.0;
};

}  // namespace zeus::run
