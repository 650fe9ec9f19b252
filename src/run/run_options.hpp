// What `zeus run` is asked for. Plain values.
#pragma once

#include "records/job_definition.hpp"
#include "run/learning_rate.hpp"
#include "run/progress_patterns.hpp"

#include <zeus/training_options.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

struct RunOptions {
  std::vector<std::string> command;

  std::string job;               // empty: nothing is remembered, and only the power limit is chosen
  std::string store;             // empty: the user's own
  bool needs_store = false;      // rather not run than run unrecorded
  std::string server;            // that keeps the job in the place of a store; empty: none
  Seconds server_patience{600};  // while it is away and nothing else is left to do

  std::vector<int> batch_sizes;
  std::optional<int> default_batch_size;
  std::optional<LearningRate> learning_rate;
  std::optional<records::JobTarget> target;
  std::optional<int> max_epochs;
  double eta = 0.5;
  double beta = 2.0;
  std::optional<double> max_slowdown;
  std::size_t window = 0;
  std::string policy;  // empty: the job's own, which for a new one is the best for the progress that can be seen
  records::ZeusChoices zeus;
  std::uint64_t seed = 0;

  PatternTexts patterns;
  bool usual_steps = false;  // the expression for steps fits most trainers, as none was given
  bool set_limits = true;
  std::vector<Watts> power_limits;  // empty: steps of 25 W
  Seconds profile_time{5};          // for each limit
  TrainingMode mode = TrainingMode::optimize;

  std::optional<std::vector<std::string>> gpus;  // numbers or UUIDs; all without
  bool stop_at_target = false;
  Seconds grace{10};
  bool quiet = false;
};

// Sets what follows from the rest (patterns that fit most trainers where none are given), and refuses what makes no
// sense together: an invalid_argument Error.
RunOptions checked(RunOptions options);

// The job as the store knows it, on these devices. `known` is how it is defined already; none for a new one.
records::JobDefinition definition_of(const RunOptions& options, const records::JobDevice& device,
                                     const records::JobDefinition* known = nullptr);

}  // namespace zeus::run
