// The training of a recurrence, as a command: watched from outside, measured by the monitor, under limits that
// PowerTuning sets. It connects the parts that watch the command (Command), count (TrainingProgress, EnergyAccount) and
// set power limits. The program's main thread; the arguments outlive it.
#pragma once

#include "jobs/try.hpp"
#include "run/command.hpp"
#include "run/command_template.hpp"
#include "run/output_study.hpp"
#include "run/power_tuning.hpp"
#include "run/run_options.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"
#include "run/training_progress.hpp"
#include "trial/energy_account.hpp"
#include "trial/limit_slices.hpp"
#include "trial/monitor_windows.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class CommandTry final : public jobs::Try {
 public:
  // For commands that are processes.
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits);
  // For commands that `launch` starts.
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits, Launch launch);

  void start(int batch_size, std::uint64_t seed) override;
  void hold(Watts limit) override;
  void leave() override;
  void measure(const std::vector<Watts>& limits, const Known& known) override;
  std::vector<Event> go_on() override;
  void stop() override;
  [[nodiscard]] State state() override;
  [[nodiscard]] std::vector<records::LimitProfile> measured() override;
  [[nodiscard]] Taken taken_so_far() override;
  Taken close() override;

  // For a command without a job: finds its best limit within as few steps as possible.
  void optimize();
  [[nodiscard]] const std::optional<TrainingResult>& optimized() const { return tuning_.result(); }

  [[nodiscard]] bool has_started() const { return running_.has_value(); }
  // What the command took after close(); empty if it had ended by then.
  [[nodiscard]] std::optional<Taken> taken_since_closed();
  // Empty if all limits that were to be measured were.
  [[nodiscard]] std::optional<Unmeasured> unmeasured() const;
  // The command that was started last.
  [[nodiscard]] Command& command() { return *running_->command; }
  [[nodiscard]] const TrainingProgress& progress() const { return running_->progress; }
  [[nodiscard]] const std::string& program() const { return command_.words().front(); }

 private:
  struct Running {
    Running(const Command::Plan& plan, const Launch& launch, TrainingGpus& gpus, Clock& clock);

    trial::MonitorWindows<Monitor> meter;
    trial::EnergyAccount account;
    std::optional<trial::EnergyAccount> afterwards;
    std::unique_ptr<Command> command;
    TrainingProgress progress;
    OutputStudy study;  // used until a step is seen
    Instant began;
    Instant stayed;
    std::optional<Watts> found;  // the limit that was in force before
    int times_stopped = 0;
    int step_reports = 0;  // seen so far
    int epochs_seen = 0;   // by its end
    bool measured_any = false;
  };

  RunOptions options_;
  Place place_;
  TrainingGpus& gpus_;
  bool sets_limits_;
  Launch launch_;
  CommandTemplate command_;
  PowerTuning tuning_;
  trial::Reference reference_;
  std::optional<Running> running_;
};

}  // namespace zeus::run
