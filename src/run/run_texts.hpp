// The lines that `zeus run` prints. Pure functions; any thread.
#pragma once

#include "jobs/job.hpp"
#include "jobs/try.hpp"
#include "records/energy_rates.hpp"
#include "records/job_view.hpp"
#include "run/output_study.hpp"
#include "run/run_options.hpp"
#include "run/watched_command.hpp"

#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

// What it does now, and why.
std::string profiling_text(const records::ProfileAsked& asked, bool has_batch_sizes);
std::string try_text(const records::TryStarted& started, bool has_batch_sizes, bool sets_limits);

// The result of a try that missed the target.
struct Miss {
  records::TryOutcome outcome = records::TryOutcome::lost;
  std::optional<int> batch_size;  // nothing if the job does not choose it
  int epochs = 0;
  bool epochs_used_up = false;  // all that it was allowed
  std::optional<Joules> energy;
  std::optional<double> metric;
  std::optional<int> exit_code;
};
std::string miss_text(const Miss& miss);

// The best metric among a recurrence's tries.
struct Closest {
  double metric = 0.0;
  int batch_size = 0;
};
// No further try follows, and the target was not reached.
std::string give_up_text(const RunOptions& options, const records::FailedTries& failed,
                         const std::optional<Closest>& closest);

// What the command took after its target, if that deserves a line compared with the time until the target.
std::optional<std::string> after_target_text(Seconds until, const jobs::Try::Taken& after);

// An energy, in brackets followed by what it costs and emits if there are rates: "2.00 kJ (0.000172 ± 0.000003 EUR)".
std::string energy_text(Joules energy, const std::optional<Joules>& half_width, const records::EnergyRates& rates);
// "2.00 kJ in 10.0 s", or that and why the energy is unknown.
std::string taken_text(const jobs::Try::Taken& taken, const records::EnergyRates& rates);
// What a command took, which begins with how it failed if it did.
std::string ended_text(int exit_code, const std::string& account);

// The last line: what the recurrence took, and what it saved.
std::string recurrence_text(const records::JobView& job, const records::RecurrenceView& recurrence,
                            const records::EnergyRates& rates = {});
// Whether it saved energy against the default by more than the uncertainty.
bool has_saved(const records::RecurrenceView& recurrence);
// With the time and energy of the whole command in place of those of its steps.
TrainingResult of_the_command(TrainingResult result, const jobs::Try::Taken& taken);
// The same line for a command without a job. Where its slowdown is bounded, it says what the next lower limit would
// take.
std::string alone_text(const TrainingResult& result, bool slowdown_is_bounded, const records::EnergyRates& rates = {});

// A training that lost the power limits which had been set, and until when, if one was set again.
struct LimitsLost {
  Seconds from;
  std::optional<Seconds> until;
  std::string why;
};
std::string limits_lost_text(const LimitsLost& lost);

// A training that ended before its power limits were measured.
struct Unmeasured {
  std::size_t limits = 0;
  Seconds time;                             // of the training
  bool steps = false;                       // some were seen
  int epochs = 0;                           // seen
  std::optional<ProposedExpression> lines;  // that may show steps, if none were seen
};
// Why they were not measured, and the one flag that helps; empty if silence_text() explains it.
std::optional<std::string> unmeasured_text(const Unmeasured& training);

// A question for a job whose batch size reaches the command through the environment alone.
std::optional<std::string> batch_size_question(const RunOptions& options);
// A question if a target was reached at once and by far, as a loss exceeds a target meant for a score.
std::optional<std::string> direction_question(const records::JobTarget& target, int epochs,
                                              std::optional<double> metric);

// What is wrong with expressions that found nothing, or nothing useful; empty if nothing is.
std::vector<std::string> silence_text(const RunOptions& options, const WatchedCommand::Seen& seen);

}  // namespace zeus::run
