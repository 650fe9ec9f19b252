// `zeus run`: one recurrence of a job around a training command. Starts the command with the batch sizes and power
// limits that the job chooses, as often as it chooses, records the results (jobs::Driver) and reports them. Ends with
// the last command's exit code, or with its own if the target is out of reach. Without a job it runs one command, at
// the power limit that suits it best.
//
// The main thread of a program, at most once.
#pragma once

#include "jobs/driver.hpp"
#include "run/command_try.hpp"
#include "run/job_keeper.hpp"
#include "run/messages.hpp"
#include "run/run_options.hpp"
#include "run/run_record.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"

#include <zeus/error.hpp>

#include <memory>
#include <optional>

namespace zeus::run {

class JobRun {
 public:
  // `options` are checked. Output goes through `messages`, which outlives it, as does everything in `place`.
  JobRun(const RunOptions& options, const Place& place, Messages& messages);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;
  ~JobRun();

  // The exit code of the last command; 1 if no further try follows and the target was not reached. Throws the errors of
  // opening the job's records, and of the GPUs.
  int run();
  // The result of the run; call it after run().
  [[nodiscard]] const RunRecord& record() const { return record_; }

 private:
  int run_job();
  void make_training();
  int run_alone();
  int run_recurrence();
  // Empty if the user prefers to train unrecorded rather than not at all; a message says so.
  std::unique_ptr<jobs::RecurrenceLink> try_to_begin();
  // Chooses among the limits that the job knows, while a node's policy is not known.
  void go_by_the_jobs_device();
  void train_unrecorded(const Error& why, bool opened);
  // The signal by which the user or another process has asked to stop since the first training was started.
  std::optional<int> asked_to_end();
  bool is_interrupted() { return asked_to_end().has_value(); }
  // Puts the recurrence's result into the record and prints it.
  void sum_up(std::uint64_t recurrence, bool say);
  void note_alone();
  void complain();

  void hear(const jobs::DriverEvent& event);
  void hear_of(const records::ProfileAsked& asked);
  void hear_of(const records::TryStarted& started);
  void hear_of(const records::FailedTries& failed);
  void hear_of(const records::LimitsMeasured& /*measured*/) {}
  void hear_of(const jobs::EpochTrained& trained) { note_metric(trained.batch_size, trained.metric); }
  void hear_of(const jobs::TryJudged& judged);
  void hear_of(const jobs::TrainingOver& over);
  void note_metric(int batch_size, std::optional<double> metric);

  RunOptions options_;
  Place place_;
  Messages& messages_;
  TrainingGpus gpus_;
  bool set_limits_ = false;
  records::JobDevice device_;
  std::unique_ptr<jobs::Keeper> keeper_;
  std::optional<CommandTry> training_;
  records::TryOutcome outcome_ = records::TryOutcome::lost;  // of the last try
  Seconds took_;                                             // the last try's time until it was judged
  std::optional<Closest> closest_;
  int exit_code_ = 0;
  bool asked_while_it_ran_ = false;  // a signal asked the last command to end
  Instant began_;
  RunRecord record_;
};

}  // namespace zeus::run
