// When a session stops: at its target, its maximum of epochs, or its maximum cost. Judged like the tries of a job
// (optimize/recurrence/judgement.hpp). Pure; one owner, one thread.
#pragma once

#include <zeus/training_options.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::train {

struct TrainingProgress {
  std::uint64_t epochs = 0;         // that are over
  std::optional<double> metric;     // the best one so far
  std::optional<Joules> cost;       // so far; unknown if energies are
  std::optional<Joules> next_cost;  // of another epoch, if known
};

// Throws an invalid_argument Error for impossible limits.
void check_stopping(const TrainingOptions& options);

std::optional<StopReason> stop_reason_of(const TrainingOptions& options, const TrainingProgress& progress);

// The better of two metrics.
double better(const TrainingTarget& target, double a, double b);

}  // namespace zeus::train
