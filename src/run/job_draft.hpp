// A job file that is proposed from one run of its command: each line that it has is explained, and what nobody can know
// from one run is there to be uncommented. Pure functions; any thread.
#pragma once

#include "run/output_study.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

// One run that was watched.
struct WatchedRun {
  std::vector<std::string> command;
  std::string name;      // of the job
  Seconds time;          // that it took
  bool reports = false;  // it reports by itself what others print
  Proposal proposal;
};

// The text of the file.
std::string job_draft(const WatchedRun& run);

// What was seen and what is proposed, for people: several lines.
std::string draft_summary(const WatchedRun& run);

// Where a command is told its batch size: `words` with a place for it.
struct BatchSizePlace {
  std::vector<std::string> words;
  int batch_size = 0;
};
std::optional<BatchSizePlace> batch_size_place(const std::vector<std::string>& command);

}  // namespace zeus::run
