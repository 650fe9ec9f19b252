// The lines that `zeus run` says. Pure functions; any thread.
#pragma once

#include "jobs/job.hpp"
#include "jobs/try.hpp"
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

// What is done now, and why.
std::string profiling_text(const jobs::ProfileStep& step, bool has_batch_sizes);
std::string try_text(const jobs::RunStep& step, bool has_batch_sizes);

// What came of a try that did not reach.
struct Miss {
  records::TryOutcome outcome = records::TryOutcome::lost;
  int batch_size = 0;
  int epochs = 0;
  bool epochs_used_up = false;  // that it was given
  Joules energy;
  std::optional<double> metric;
  std::optional<int> exit_code;
};
std::string miss_text(const Miss& miss);

// The best metric of a recurrence's tries.
struct Closest {
  double metric = 0.0;
  int batch_size = 0;
};
// Nothing is tried any more, and the target was not reached.
std::string give_up_text(const RunOptions& options, const jobs::GiveUpStep& step,
                         const std::optional<Closest>& closest);

// What the command went on to take after its target, where that is worth saying of one that took so much time until
// then.
std::optional<std::string> after_target_text(Seconds until, const jobs::Try::Taken& after);

// The one line at the end: what the recurrence took, and what was saved by it.
std::string recurrence_text(const records::JobView& job, const records::RecurrenceView& recurrence);
// Whether it took less energy than the default would have, beyond doubt.
bool has_saved(const records::RecurrenceView& recurrence);
// The same line of a command that was run without a job.
std::string alone_text(const TrainingResult& result);

// A training whose power limits were to be measured, and which ended before they were.
struct Unmeasured {
  std::size_t limits = 0;
  Seconds time;                             // that it took
  bool steps = false;                       // any were seen
  int epochs = 0;                           // that were seen
  std::optional<ProposedExpression> lines;  // that may tell of steps, where none were seen
};
// Why they were not, and the one flag that would help; nothing where silence_text says so.
std::optional<std::string> unmeasured_text(const Unmeasured& training);

// A question, where the batch size that is chosen has no way into the command but the environment.
std::optional<std::string> batch_size_question(const RunOptions& options);
// A question, where a target was reached at once and by far, as a loss reaches one that is to be exceeded.
std::optional<std::string> direction_question(const records::JobTarget& target, int epochs,
                                              std::optional<double> metric);

// What is wrong with expressions of which nothing, or nothing useful, was seen; empty when nothing is.
std::vector<std::string> silence_text(const RunOptions& options, const WatchedCommand::Seen& seen);

}  // namespace zeus::run
