// What a training command can be seen to do from outside. Plain values; copy them freely between threads.
#pragma once

#include <cstdint>
#include <variant>

namespace zeus::run {

// So many training steps more are over. When they were is not known where they are heard of with the end of their
// epoch: a progress bar's line ends when the next one is drawn, and evaluation may lie between.
struct StepsDone {
  std::uint64_t count = 1;
  bool timed = true;
  friend bool operator==(const StepsDone&, const StepsDone&) = default;
};

// So many epochs more are over.
struct EpochsDone {
  std::uint64_t count = 1;
  friend bool operator==(const EpochsDone&, const EpochsDone&) = default;
};

// What the model achieves now; may be NaN or infinite, where training has diverged.
struct MetricSeen {
  double value = 0.0;
};

using Progress = std::variant<StepsDone, EpochsDone, MetricSeen>;

}  // namespace zeus::run
