// The `zeus run` around this process, if there is one. That run sets the power limits. This process reports its
// progress to it in the lines of docs/run.md, in place of output that the run would have to read. Writes whole lines,
// never waits and never fails: a run that is gone gets no more reports. One thread.
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

// The values of the variables; those that are not set, or make no sense, are left out.
RunValues run_values_of(const Environment& environment);

class OuterRun {
 public:
  // The run that the environment names. Null without one; null and a warning if it cannot be reached (any more).
  static std::unique_ptr<OuterRun> find(const Environment& environment, Clock& clock);
  // Reports through this file. Throws a system_failure Error if the file cannot be written to.
  OuterRun(const std::filesystem::path& reports, const RunValues& values, Clock& clock);

  // The options, with the run's choices for what they leave open.
  [[nodiscard]] TrainingOptions complete(TrainingOptions options) const;

  // This many more steps are over. Reports in quick succession are added up.
  void steps(std::uint64_t count);
  // Held back until it is known whether the metric ends the epoch: both are then reported together.
  void metric(double value);
  void epoch();
  // Reports the steps that are held back, unless a metric has followed them.
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
