// The options of `zeus run`. Plain values.
#pragma once

#include "records/energy_rates.hpp"
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

  std::string job;               // empty: no job is kept, and only the power limit is chosen
  std::string store;             // empty: the user's default store
  bool needs_store = false;      // refuse to run if the run cannot be recorded
  std::string server;            // the server that keeps the job instead of a store; empty: none
  Seconds server_patience{600};  // how long to wait for it when nothing else is left to do

  std::vector<int> batch_sizes;
  std::optional<int> default_batch_size;
  std::optional<LearningRate> learning_rate;
  std::optional<records::JobTarget> target;
  std::optional<int> max_epochs;
  double eta = 0.5;
  double beta = 2.0;
  std::optional<double> max_slowdown;
  std::size_t window = 0;
  std::string policy;  // empty: that of the job; for a new job, the best one for the visible progress
  records::ZeusChoices zeus;
  std::uint64_t seed = 0;

  PatternTexts patterns;
  bool usual_steps = false;  // whether the expression for steps is the default, which fits most trainers
  bool set_limits = true;
  std::vector<Watts> power_limits;      // empty: steps of 25 W
  std::optional<Seconds> profile_time;  // of each limit
  TrainingMode mode = TrainingMode::optimize;

  std::optional<std::vector<std::string>> gpus;  // numbers or UUIDs; empty: all
  records::EnergyRates rates;                    // for what the run costs and emits
  bool stop_at_target = false;
  Seconds grace{10};
  bool quiet = false;
};

// Completes the options: without given patterns, it uses those that fit most trainers. Options that contradict each
// other are an invalid_argument Error.
RunOptions checked(RunOptions options);

// The job's definition for the store, on these devices. `known` is its current definition; null for a new job.
records::JobDefinition definition_of(const RunOptions& options, const records::JobDevice& device,
                                     const records::JobDefinition* known = nullptr);

}  // namespace zeus::run
