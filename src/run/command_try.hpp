// A training that is a command, as a recurrence is run with it: watched from outside, measured by the monitor, under
// limits that PowerTuning sets. Puts together what watches the command (WatchedCommand), what counts (TrainingProgress,
// EnergyAccount) and what sets power limits. The main thread of a program; what it is given outlives it.
#pragma once

#include "jobs/try.hpp"
#include "run/command_template.hpp"
#include "run/energy_account.hpp"
#include "run/power_tuning.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "run/training_progress.hpp"
#include "run/watched_command.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class CommandTry final : public jobs::Try {
 public:
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits);

  void start(int batch_size, std::uint64_t seed) override;
  void hold(Watts limit) override;
  void leave() override;
  void measure(const std::vector<Watts>& limits) override;
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
  // Of the command that was started last.
  [[nodiscard]] WatchedCommand& command() { return running_->command; }
  [[nodiscard]] const TrainingProgress& progress() const { return running_->progress; }
  [[nodiscard]] const std::string& program() const { return command_.words().front(); }

 private:
  struct Running {
    Running(const WatchedCommand::Plan& plan, TrainingGpus& gpus, Clock& clock);

    EnergyAccount account;
    WatchedCommand command;
    TrainingProgress progress;
    Instant stayed;
    int times_stopped = 0;
  };

  RunOptions options_;
  Place place_;
  TrainingGpus& gpus_;
  bool sets_limits_;
  CommandTemplate command_;
  PowerTuning tuning_;
  std::optional<Running> running_;
};

}  // namespace zeus::run
