// What a training has done since it was last seen. Plain values; copy them freely between threads.
#pragma once

#include <cstdint>
#include <variant>

namespace zeus::trial {

// This many more training steps have ended; 0 where the first of an epoch begins. Their time is unknown if they are
// seen with the end of their epoch, since evaluation may come between, and if they turn out later to have been part of
// a step's number.
struct StepsDone {
  std::uint64_t count = 1;
  bool timed = true;
  // The first of a count that begins again: evaluation and the like may lie between it and the step before.
  bool begins = false;
  bool ends = false;  // a bar that comes to its total
  // Another count than before is taken for the training's from here on.
  bool changed = false;
  bool reported = false;     // by the training itself, not read from what it prints
  std::uint32_t series = 0;  // which of the counts that the training shows: a bar of training, one of evaluation
  friend bool operator==(const StepsDone&, const StepsDone&) = default;
};

// This many more epochs have ended.
struct EpochsDone {
  std::uint64_t count = 1;
  friend bool operator==(const EpochsDone&, const EpochsDone&) = default;
};

// The model's metric now. May be NaN or infinite, where training has diverged.
struct MetricSeen {
  double value = 0.0;
};

using Progress = std::variant<StepsDone, EpochsDone, MetricSeen>;

// The most steps or epochs that one line reports.
inline constexpr std::uint64_t most_progress_at_once = 1'000'000;

}  // namespace zeus::trial
