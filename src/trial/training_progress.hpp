// How far a training has come. Pure: each event brings its time. One thread.
#pragma once

#include "base/clock.hpp"
#include "trial/limit_slices.hpp"
#include "trial/progress.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::trial {

class TrainingProgress {
 public:
  void take(const Progress& progress, Instant now);

  [[nodiscard]] int epochs() const { return epochs_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The last metric that is a number.
  [[nodiscard]] std::optional<double> metric() const { return metric_; }
  // Whether the metric has ever been NaN or infinite.
  [[nodiscard]] bool diverged() const { return diverged_; }

  // Of the first epoch that ended; empty before. A command may print every tenth step. Its epochs then seem to differ
  // in length, and measurements in different epochs must still be comparable.
  [[nodiscard]] std::optional<std::uint64_t> steps_per_epoch() const { return steps_per_epoch_; }
  // By how much that epoch was longer than its steps, for evaluation and the like: 0.1 for a tenth of the steps' time.
  [[nodiscard]] double beside_steps() const { return beside_steps_; }
  // The same for the last epoch, as a part of that epoch; empty before an epoch has ended.
  [[nodiscard]] std::optional<double> part_beside_steps() const {
    return epochs_ > 0 ? std::optional{last_beside_steps_ / (1.0 + last_beside_steps_)} : std::nullopt;
  }

  // Of the first epoch that ended; empty before it, and without steps.
  [[nodiscard]] std::optional<EpochShape> shape() const {
    return steps_per_epoch_ ? std::optional{EpochShape{.steps = static_cast<double>(*steps_per_epoch_),
                                                       .beside_steps = beside_steps_}}
                            : std::nullopt;
  }

  // The mean time of a step in this epoch so far; empty before the second event of steps.
  [[nodiscard]] std::optional<Seconds> step_time() const;

 private:
  void end_epochs(std::uint64_t count, Instant now);

  Instant first_step_;
  Instant last_step_;
  int epochs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t epoch_steps_ = 0;
  bool steps_timed_ = false;       // some of this epoch were
  std::uint64_t timed_steps_ = 0;  // between the first and the last event
  std::optional<double> metric_;
  bool diverged_ = false;
  std::optional<std::uint64_t> steps_per_epoch_;
  double beside_steps_ = 0.0;
  double last_beside_steps_ = 0.0;
};

}  // namespace zeus::trial
