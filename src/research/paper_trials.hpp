// Runs many seeds of one job under one policy for the paper's experiments. Pure functions; callable from any thread.
#pragma once

#include "simulate/job_simulation.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/stage.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::research {

// A policy compared with the default: its name, and its label in figures.
struct PaperPolicy {
  std::string_view policy;
  std::string label;
};
std::vector<PaperPolicy> paper_policies();

struct PaperTrials {
  std::uint64_t recurrences = 0;
  simulate::Spread energy_ratio;  // of the last five tries that reached the target, relative to the default's mean
  simulate::Spread time_ratio;
  simulate::Spread regret;                   // in units of the optimum's cost
  std::vector<simulate::Spread> cumulative;  // regret, after each recurrence
  simulate::Spread total_energy;             // of all tries, in joules
  simulate::Spread total_time;
  // The same of each seed.
  std::vector<double> energy_ratios = {};
  std::vector<double> time_ratios = {};
  std::vector<double> regrets = {};
  std::vector<double> total_energies = {};
  std::vector<double> total_times = {};
  std::vector<double> ends_at_optimum = {};  // 1 if the last run that reached the target was of the optimum, 0 if not
};

PaperTrials run_trials(const simulate::Stage& stage, const simulate::SimulationOptions& options,
                       const simulate::PolicyFactory& policy, std::uint64_t seeds);
// With twice as many recurrences as configurations, as in the paper.
PaperTrials run_trials(const simulate::Stage& stage, std::string_view policy, std::uint64_t seeds, double beta = 2.0);

// A try of a job with the reason why it was made.
struct ChosenTry {
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  bool explored = false;
};
// Those of the first seed.
std::vector<ChosenTry> chosen_tries(const simulate::Stage& stage, std::string_view policy);

// The first seed's tries.
std::vector<simulate::SimulatedTry> search_path(const simulate::Stage& stage, std::string_view policy);

std::uint64_t paper_recurrences(const simulate::Workload& workload);

double geometric_mean(const std::vector<double>& values);

}  // namespace zeus::research
