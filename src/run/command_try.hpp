// The training of a recurrence, as a command: a try over the parts that watch the command (CommandSource), measure it
// and set its power limits. The program's main thread; the arguments outlive it.
#pragma once

#include "jobs/try.hpp"
#include "run/command.hpp"
#include "run/command_source.hpp"
#include "run/run_options.hpp"
#include "run/run_texts.hpp"
#include "run/training_gpus.hpp"
#include "trial/gpu_instruments.hpp"
#include "trial/trial.hpp"
#include "trial_sessions/session_gpus.hpp"

#include <functional>
#include <optional>

namespace zeus::run {

class CommandTry {
 public:
  // For commands that are processes.
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits);
  // For commands that `launch` starts.
  CommandTry(const RunOptions& options, const Place& place, TrainingGpus& gpus, bool sets_limits, Launch launch);

  [[nodiscard]] trial::Trial& trial() { return trial_; }
  [[nodiscard]] const trial::TrainingProgress& progress() const { return trial_.progress(); }

  // For a command without a job: finds its best limit within as few steps as possible.
  void optimize();
  // The result of that, once the limits are left.
  [[nodiscard]] const std::optional<TrainingResult>& optimized() const { return gpus_.result(); }

  // What the command took after its try was closed.
  [[nodiscard]] jobs::Try::Taken taken_since_closed() { return instruments_.since_closed(); }
  // Empty if no limit that had been set was lost.
  [[nodiscard]] std::optional<LimitsLost> limits_lost() const;
  // Empty if all limits that were to be measured were.
  [[nodiscard]] std::optional<Unmeasured> unmeasured() const;
  [[nodiscard]] bool has_started() const { return source_.has_started(); }
  // The command that was started last.
  [[nodiscard]] Command& command() { return source_.command(); }
  // As CommandSource::between_its_output(). Any thread.
  void between_its_output(const std::function<void(bool mid_line)>& write) { source_.between_its_output(write); }

 private:
  RunOptions options_;
  CommandSource source_;
  trial_sessions::SessionGpus gpus_;
  trial::GpuInstruments instruments_;
  trial::Trial trial_;
};

}  // namespace zeus::run
