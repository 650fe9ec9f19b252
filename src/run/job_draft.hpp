// Proposes a job file from one run of its command. Each line is explained; the batch sizes and the target that it
// suggests are comments, unless they are accepted. Pure functions; any thread.
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
  Seconds time;          // of the run
  bool reports = false;  // it reports its progress, instead of printing it
  Proposal proposal;
};

enum class Suggestions { to_uncomment, accepted };

// Why batch sizes and a target cannot be accepted; nothing when they can.
std::optional<std::string> why_nothing_to_accept(const WatchedRun& run);

// The text of the file.
std::string job_draft(const WatchedRun& run, Suggestions suggestions = Suggestions::to_uncomment);

// What was seen and what is proposed, in several lines for people.
std::string draft_summary(const WatchedRun& run);

// Where a command takes its batch size: `words` with a place for it.
struct BatchSizePlace {
  std::vector<std::string> words;
  int batch_size = 0;
};
std::optional<BatchSizePlace> batch_size_place(const std::vector<std::string>& command);

}  // namespace zeus::run
