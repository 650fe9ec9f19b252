// The `zeus run` around this process, where there is one: it sets the power limits, and is told how far the training
// has come by the lines of docs/run.md, so that it sees what a script's output would have told it. Writes whole lines,
// never waits, and never fails: a run that is gone is not told any more. One thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"

#include <zeus/run_values.hpp>
#include <zeus/training_options.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace zeus::train {

// What the variables say; those that are not set, or say nothing that makes sense, are left out.
RunValues run_values_of(const Environment& environment);

class OuterRun {
 public:
  // The one that the environment names; null without any, and, with a warning, where it cannot be reached (any more).
  static std::unique_ptr<OuterRun> find(const Environment& environment, Clock& clock);
  // Tells it by this file; a system_failure Error when that cannot be written to.
  OuterRun(const std::filesystem::path& reports, const RunValues& values, Clock& clock);

  // The options with what the run has chosen in the place of what they leave open.
  [[nodiscard]] TrainingOptions complete(TrainingOptions options) const;

  // So many steps more are over. Those that follow soon after others are told together.
  void steps(std::uint64_t count);
  // Held back until it is known whether it ends the epoch: the two are told at once.
  void metric(double value);
  void epoch();
  // Tells of steps that are held back, unless a metric has followed them.
  void flush();

 private:
  void add_steps();
  void send();

  FileDescriptor file_;
  RunValues values_;
  Clock& clock_;
  std::uint64_t untold_steps_ = 0;
  bool metric_held_ = false;
  Instant told_;
  std::string unsent_;
};

}  // namespace zeus::train
