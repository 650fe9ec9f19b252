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
  // Time has passed that the training did not use: the present epoch says nothing of how long epochs are.
  void stood_still() { epoch_broken_ = true; }

  [[nodiscard]] int epochs() const { return epochs_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The last metric that is a number.
  [[nodiscard]] std::optional<double> metric() const { return metric_; }
  // Whether the metric has ever been NaN or infinite.
  [[nodiscard]] bool diverged() const { return diverged_; }

  // An epoch is as long as so many steps and what is beside them, evaluation and the like: 0.1 for a tenth of the
  // steps' time. Together they say how long an epoch is in terms of the pace at which steps are counted, whether each
  // is seen or every tenth, by whatever numbers. Means over the epochs from the second on; only until that is over, the
  // first, whose beginning is not seen. Empty as long as no pace is known.
  [[nodiscard]] std::optional<EpochShape> shape() const;
  // What is beside the steps of the last epoch, as a part of that epoch; empty before an epoch has ended.
  [[nodiscard]] std::optional<double> part_beside_steps() const;

  // The mean time of a step in this epoch so far; empty before the second event of steps.
  [[nodiscard]] std::optional<Seconds> step_time() const;

 private:
  struct Shape {
    double steps = 0.0;   // counted
    double length = 0.0;  // in steps
  };

  void take_steps(const StepsDone& steps, Instant now);
  void end_epochs(std::uint64_t count, Instant now);
  void begin_epoch();
  void forget_pace();
  // What is beside the steps. Evaluation is never taken to be longer than training.
  static double beside(const Shape& shape);

  std::optional<Instant> epoch_began_;  // unknown of the first
  bool epoch_broken_ = false;
  std::optional<Instant> first_step_;
  Instant last_step_;
  Seconds timed_;  // of `timed_steps_`
  int epochs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t first_steps_ = 0;    // up to the first event that is timed
  std::uint64_t timed_steps_ = 0;    // between two events that are timed, of one count
  std::uint64_t between_steps_ = 0;  // those that begin a further count
  std::uint64_t untimed_steps_ = 0;  // since the last event that is timed
  std::optional<double> metric_;
  bool diverged_ = false;
  std::optional<Shape> first_epoch_;
  std::optional<Shape> last_epoch_;
  Shape later_epochs_;  // the sum
  double later_count_ = 0.0;
};

}  // namespace zeus::trial
