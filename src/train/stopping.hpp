// When a session stops: target, maximum of epochs, and the cost that the training may have, judged as the tries of a
// job are (optimize/recurrence/judgement.hpp). Pure; one owner, one thread.
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
  std::optional<Joules> cost;       // so far; unknown where energies are
  std::optional<Joules> next_cost;  // of another epoch, where that is known
};

// Refuses limits that make no sense: an invalid_argument Error.
void check_stopping(const TrainingOptions& options);

std::optional<StopReason> stop_reason_of(const TrainingOptions& options, const TrainingProgress& progress);

// The better of two metrics.
double better(const TrainingTarget& target, double a, double b);

}  // namespace zeus::train
