// A training that is a command, as a recurrence is run with it: watched from outside, measured by the monitor, under
// limits that PowerTuning sets. Puts together what watches the command (Command), what counts (TrainingProgress,
// EnergyAccount) and what sets power limits. The main thread of a program; what it is given outlives it.
#pragma once

#include "jobs/try.hpp"
#include "run/command.hpp"
#include "run/command_template.hpp"
#include "run/energy_account.hpp"
#include "run/output_study.hpp"
#include "run/power_tuning.hpp"
#include "run/run_options.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"
#include "run/training_progress.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class CommandTry final : public jobs::Try {
 public:
  // Of commands that are processes.
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits);
  // Of commands that `launch` starts.
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

  // Of a command that is no job's: finds the limit that suits it best, in as few steps as it takes.
  void optimize();
  [[nodiscard]] const std::optional<TrainingResult>& optimized() const { return tuning_.result(); }

  [[nodiscard]] bool has_started() const { return running_.has_value(); }
  // What the command took from close() on; nothing where it had ended by then.
  [[nodiscard]] std::optional<Taken> taken_since_closed();
  // Nothing where it has no limits left that were to be measured.
  [[nodiscard]] std::optional<Unmeasured> unmeasured() const;
  // Of the command that was started last.
  [[nodiscard]] Command& command() { return *running_->command; }
  [[nodiscard]] const TrainingProgress& progress() const { return running_->progress; }
  [[nodiscard]] const std::string& program() const { return command_.words().front(); }

 private:
  struct Running {
    Running(const Command::Plan& plan, const Launch& launch, TrainingGpus& gpus, Clock& clock);

    EnergyAccount account;
    std::optional<EnergyAccount> afterwards;
    std::unique_ptr<Command> command;
    TrainingProgress progress;
    OutputStudy study;  // while no steps were seen
    Instant began;
    Instant stayed;
    std::optional<Watts> found;  // the limit that was in force
    int times_stopped = 0;
    int words_of_steps = 0;  // told of
    int epochs_seen = 0;     // by its end
    bool measured_any = false;
  };

  RunOptions options_;
  Place place_;
  TrainingGpus& gpus_;
  bool sets_limits_;
  Launch launch_;
  CommandTemplate command_;
  PowerTuning tuning_;
  // Was measured in another training, is measured again with the limits that are to be compared with it, and these are
  // told relative to it: two trainings may differ in more than their limits.
  std::optional<records::LimitProfile> reference_;
  std::optional<Running> running_;
};

}  // namespace zeus::run
