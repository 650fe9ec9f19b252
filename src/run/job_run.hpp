// `zeus run`: one recurrence of a job around a training command. Starts the command as often as the job says, at the
// batch sizes and power limits it says, records what comes of it, and ends with the last command's exit code. Without a
// job: one command, at the power limit that suits it best.
//
// The main thread of a program, at most once.
#pragma once

#include "jobs/job.hpp"
#include "run/attempt.hpp"
#include "run/command_template.hpp"
#include "run/job_records.hpp"
#include "run/power_tuning.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "run/voice.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace zeus::run {

class JobRun {
 public:
  // `options` are checked. What it says is said by `voice`, which outlives it, as all in `place` does.
  JobRun(const RunOptions& options, const Place& place, Voice& voice);
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;
  ~JobRun();

  // The exit code of the last command. Errors: those of opening the job's records, and of the GPUs.
  int run();

 private:
  // Whether another step is wanted.
  enum class Next { step, end };

  int run_alone();
  int run_recurrence();
  Next carry_out(const jobs::ProfileStep& step);
  Next carry_out(const jobs::RunStep& step);
  Next carry_out(const jobs::GiveUpStep& step);

  void start(int batch_size, std::uint64_t seed);
  // Ends the command, whose training is of no use, and charges the recurrence with what it took.
  void abandon();
  void end_command();
  void tune_for(const jobs::RunStep& step);
  void go_on();
  void note_progress();
  void record_profiles();
  void settle();
  [[nodiscard]] jobs::Finished finished(const jobs::RunStep& step);
  [[nodiscard]] bool crash_counts(const jobs::RunStep& step, const jobs::Finished& finished);
  Next after(const jobs::RunStep& step, const jobs::Finished& finished);
  void see_it_through();
  void complain();

  RunOptions options_;
  Place place_;
  Voice& voice_;
  CommandTemplate command_;
  TrainingGpus gpus_;
  bool set_limits_ = false;
  records::JobDevice device_;
  std::optional<PowerTuning> tuning_;
  std::optional<JobRecords> records_;
  std::unique_ptr<Attempt> attempt_;
  int batch_size_ = 0;            // of the attempt
  bool profiles_wanted_ = false;  // of the attempt, and not recorded yet
  int epochs_recorded_ = 0;       // of the try
  Instant progress_recorded_;
  int exit_code_ = 0;
};

}  // namespace zeus::run
