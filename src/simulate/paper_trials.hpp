// Many seeds of one job under one policy, as the paper's experiments need them. Pure functions; callable from any
// thread.
#pragma once

#include "simulate/job_simulation.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/stage.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::simulate {

// What stands beside the default in the experiments: the policy's name, and what figures call it.
struct PaperPolicy {
  std::string_view policy;
  std::string label;
};
std::vector<PaperPolicy> paper_policies();

struct PaperTrials {
  std::uint64_t recurrences = 0;
  Spread energy_ratio;  // of the last five tries that reached, to the default's mean
  Spread time_ratio;
  Spread regret;                   // in units of the optimum's cost
  std::vector<Spread> cumulative;  // regret, after each recurrence
  Spread total_energy;             // of everything, in joules
  Spread total_time;
};

PaperTrials run_trials(const Stage& stage, const SimulationOptions& options, const PolicyFactory& policy,
                       std::uint64_t seeds);
// With twice as many recurrences as there are configurations, as the paper has it.
PaperTrials run_trials(const Stage& stage, std::string_view policy, std::uint64_t seeds, double beta = 2.0);

// The first seed's tries.
std::vector<SimulatedTry> search_path(const Stage& stage, std::string_view policy);

std::uint64_t paper_recurrences(const Workload& workload);

double geometric_mean(const std::vector<double>& values);

}  // namespace zeus::simulate
