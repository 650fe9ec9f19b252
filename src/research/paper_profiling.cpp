#include "research/paper_profiling.hpp"

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/power_limit/goal_plan.hpp"
#include "optimize/power_limit/limit_grid.hpp"
#include "physics/workload.hpp"
#include "research/paper_setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>

namespace zeus::research {

namespace {

// The sizes of the data sets, which give a step's time from an epoch's.
constexpr std::array samples_of_job{281'241.0, 88'524.0, 1'600'000.0, 1'281'167.0, 50'000.0, 4'970'845.0};

}  // namespace

std::vector<NamedLoad> paper_loads(const physics::GpuModel& gpu) {
  std::vector<NamedLoad> loads;
  for (const physics::Workload& workload : physics::workloads()) {
    const int batch_size = workload.default_batch_size(gpu);
    const double steps = std::max(1.0, samples_of_job.at(loads.size()) / batch_size);
    loads.push_back({.name = workload.name(),
                     .load = {.gpu = &gpu,
                              .demand = workload.demand(gpu, batch_size),
                              .step = workload.profile(gpu, batch_size).epoch / steps}});
  }
  return loads;
}

double PlanResult::mean_steps() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

PlanResult run_plan(const TrainingLoad& load, bool adaptive, double weight, const Disturbance& disturbance,
                    std::uint64_t seeds) {
  const optimize::SettingRange range{optimize::limits_to_try({}, load.gpu->limits.min, load.gpu->limits.max, {})};
  const optimize::EnergyTimeCost cost{weight, load.gpu->limits.max};
  const auto cost_at = [&](Watts limit) {
    return cost.of_epoch(settled_step(load, {.limit = limit, .clock = std::nullopt}));
  };
  const Joules best = std::ranges::min(range.limits() | std::views::transform(cost_at));
  const optimize::PlanWish wish{
      .goal = LeastCost{},
      .profiling = adaptive ? PowerProfiling{AdaptiveProfiling{}} : PowerProfiling{SweepProfiling{}},
      .cost = cost,
      .training_steps = {},
      .known = {},
      .predicted_from = {}};
  PlanResult result;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    optimize::Profiler profiler{optimize::make_plan(range, wish), {.baseline = range.highest()}};
    const ProfilingOutcome outcome = run_profiling(load, profiler, disturbance, seed);
    const double ratio = cost_at(outcome.optimum->limit) / best;
    const auto count = static_cast<double>(seeds);
    result.within += ratio <= 1.01 ? 1.0 / count : 0.0;
    result.worst = std::max(result.worst, ratio);
    result.steps.push_back(static_cast<double>(outcome.steps));
    result.time += outcome.time / count;
  }
  std::ranges::sort(result.steps);
  return result;
}

records::FindingsSection profiling_section(std::uint64_t seeds) {
  records::BarChart chart{.title = "Steps of profiling on a virtual V100, seven limits",
                          .y = {.label = "training steps", .logarithmic = false, .from_zero = true},
                          .groups = {},
                          .series = {{.name = "full sweep", .values = {}, .deviations = {}},
                                     {.name = "adaptive (the default)", .values = {}, .deviations = {}}},
                          .reference = std::nullopt};
  records::FindingsTable table{
      .title = "Full sweep, and adaptive plan",
      .columns = {"job", "plan", "within 1 % of the best limit's cost", "worst seed", "steps", "time"},
      .rows = {}};
  for (const NamedLoad& named : paper_loads(physics::preset("V100"))) {
    chart.groups.emplace_back(named.name);
    for (const bool adaptive : {false, true}) {
      const PlanResult result = run_plan(named.load, adaptive, paper_eta, Disturbance{}, seeds);
      chart.series[adaptive ? 1 : 0].values.emplace_back(result.mean_steps());
      table.rows.push_back({std::string{named.name}, adaptive ? "adaptive" : "sweep",
                            fmt::format("{:.1f} %", 100.0 * result.within),
                            fmt::format("{:+.2f} %", 100.0 * (result.worst - 1.0)),
                            fmt::format("{:.0f}", result.mean_steps()), fmt::format("{:.1f} s", result.time.value())});
    }
  }
  return {.title = "The power-limit plans (section 4.2)",
          .paragraphs = {fmt::format(
              "The paper's sweep of all limits (10 steps to settle and 40 measured under each) and this "
              "project's adaptive plan, on the six built-in workloads: 2 % scatter of each "
              "step's time and energy, 5 % drift while the GPU warms up, and its counter's ticks. Means of "
              "{} seeds.",
              seeds)},
          .figures = {std::move(chart), std::move(table)}};
}

}  // namespace zeus::research
