// Plays a script's recurrences through the code of `zeus run` or of zeus::Job, on a virtual clock, with a virtual GPU
// in this process: lines, expressions, steps and epochs, limits, energy, the driver and the job are the real
// ones. The statements after each recurrence are kept with the true values. One thread.
#pragma once

#include "run/limit_change.hpp"
#include "tests/run/truth_script.hpp"
#include "tests/run/truth_told.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::truth {

// The error of a command's cost without Zeus, under a constant limit and with steps that do not scatter, relative to
// the cost by the law: the larger relative error of energy and time, over all batch sizes. This tests the instrument
// itself.
double error_of_law(Script script);

enum class Front {
  command,  // under `zeus run`
  loop,     // with zeus::Job
};
Played play(const Script& script, Front front);

// One run of the script as a command without a job, with these draws of its steps: what it says that its limit changes,
// and what that limit changes in truth.
struct PlayedAlone {
  Script script;
  std::string unoptimized;  // why no limit was chosen; empty if one was
  std::optional<run::LimitChange> stated;
  double energy = 0.0;  // the true changes of a step's energy and time, relative
  double time = 0.0;
  double runs_to_regain = 0.0;  // after how many runs the true saving is as high as what comparing limits took in truth
  // The part of its cost by which the kept limit exceeds the best of those that could be set.
  std::optional<double> regret;
};
PlayedAlone play_alone(const Script& script, std::uint64_t draws);

// Beside what is true of the limit that such a run kept.
PlayedAlone judged_alone(const Script& script, const TrainingResult& result);

}  // namespace zeus::truth
