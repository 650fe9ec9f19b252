// Compares the plans of the just-in-time profiler on virtual GPUs. Pure; callable from any thread.
#pragma once

#include "records/findings.hpp"
#include "research/profiling_run.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace zeus::research {

struct NamedLoad {
  std::string_view name;
  TrainingLoad load;
};

// The six built-in workloads at their default batch sizes.
std::vector<NamedLoad> paper_loads(const physics::GpuModel& gpu);

// The results of a plan over many seeds.
struct PlanResult {
  double within = 0.0;        // share of seeds that end within 1 % of the best limit's cost
  double worst = 1.0;         // cost of the worst seed's choice, relative to the best
  std::vector<double> steps;  // of profiling, ascending
  Seconds time;               // mean

  [[nodiscard]] double mean_steps() const;
};
PlanResult run_plan(const TrainingLoad& load, bool adaptive, double eta, const Disturbance& disturbance,
                    std::uint64_t seeds);

// The steps that each plan takes, and how far from the best limit it ends.
records::FindingsSection profiling_section(std::uint64_t seeds);

}  // namespace zeus::research
