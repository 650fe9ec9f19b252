#include "research/paper_cluster.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "research/cluster_generator.hpp"
#include "research/cluster_simulation.hpp"
#include "research/paper_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace zeus::research {

namespace {

constexpr double paper_beta = 2.0;
constexpr std::uint64_t jobs_for_each_seed = 5'000;
// All jobs are this many times those of the largest group, as in the generator's own plan.
constexpr std::uint64_t jobs_in_largest_groups = 60;

ClusterPlan plan_for(std::uint64_t seeds) {
  ClusterPlan plan;
  plan.jobs = std::min(plan.jobs, jobs_for_each_seed * std::min(seeds, plan.jobs));
  plan.largest_group = std::max(plan.jobs / jobs_in_largest_groups, plan.smallest_group);
  return plan;
}

// By workload.
std::vector<ClusterTotal> run_cluster(const std::vector<simulate::Stage>& stages, const ClusterPlan& plan,
                                      const PaperPolicy& policy) {
  const simulate::PolicyFactory factory = [&](const optimize::JobSpec& spec) {
    return optimize::make_policy(policy.policy, spec);
  };
  std::vector<Seconds> typical_times;
  for (const simulate::Stage& stage : stages) {
    typical_times.push_back(stage.default_configuration().time);
  }
  std::vector<ClusterTotal> totals(stages.size());
  ClusterGenerator generator{plan, std::move(typical_times)};
  std::uint64_t number = 0;
  while (const auto group = generator.next()) {
    simulate_group(stages[group->workload], group->jobs, paper_beta, factory, ++number, totals[group->workload]);
  }
  return totals;
}

records::BarChart chart_of(const PaperGpu& gpu, std::string title, std::string label) {
  records::BarChart chart{.title = fmt::format("{} on {}", title, gpu.name),
                          .y = {.label = std::move(label), .from_zero = true},
                          .groups = {},
                          .series = {},
                          .reference = 1.0};
  for (const PaperWorkload& job : gpu.workloads) {
    chart.groups.push_back(job.name);
  }
  return chart;
}

// Nothing for a workload without groups.
std::optional<double> ratio(double value, double of_default) {
  return of_default > 0.0 ? std::optional{value / of_default} : std::nullopt;
}

std::string changes(const std::vector<std::optional<double>>& ratios) {
  double least = 0.0;
  double most = 0.0;
  bool any = false;
  for (const std::optional<double>& value : ratios) {
    if (value) {
      least = any ? std::min(least, *value) : *value;
      most = any ? std::max(most, *value) : *value;
      any = true;
    }
  }
  return any ? fmt::format("{:+.1f} % to {:+.1f} %", 100.0 * (least - 1.0), 100.0 * (most - 1.0)) : std::string{};
}

}  // namespace

records::FindingsSection cluster_section(const PaperGpu& gpu, std::uint64_t seeds) {
  const ClusterPlan plan = plan_for(seeds);
  std::vector<simulate::Stage> stages;
  for (const PaperWorkload& job : gpu.workloads) {
    stages.emplace_back(job.workload, paper_eta);
  }
  records::BarChart energies = chart_of(gpu, "Energy of all jobs", "energy / Default's");
  records::BarChart times = chart_of(gpu, "Training time of all jobs", "time / Default's");
  records::FindingsTable amounts{.title = "Groups and jobs", .columns = {"job", "groups", "jobs"}, .rows = {}};
  records::FindingsTable beside{.title = "Beside the paper (6.3)", .columns = {"", "energy", "time"}, .rows = {}};
  for (const PaperPolicy& policy : paper_policies()) {
    const std::vector<ClusterTotal> totals = run_cluster(stages, plan, policy);
    records::BarSeries energy{.name = policy.label, .values = {}, .deviations = {}};
    records::BarSeries time{.name = policy.label, .values = {}, .deviations = {}};
    amounts.rows.clear();
    for (std::size_t i = 0; i < totals.size(); ++i) {
      energy.values.push_back(ratio(totals[i].energy.value(), totals[i].default_energy.value()));
      time.values.push_back(ratio(totals[i].time.value(), totals[i].default_time.value()));
      amounts.rows.push_back(
          {gpu.workloads[i].name, fmt::format("{}", totals[i].groups), fmt::format("{}", totals[i].jobs)});
    }
    beside.rows.push_back({policy.label, changes(energy.values), changes(time.values)});
    energies.series.push_back(std::move(energy));
    times.series.push_back(std::move(time));
  }
  beside.rows.push_back({"the paper: zeus", "-52 % to -7 %", "-33 % to +16 %"});
  return {.title = "A cluster (section 6.3, figure 9)",
          .paragraphs = {fmt::format(
              "The paper replays 1.2 million jobs of a cluster trace that is not available here. Instead, {} generated "
              "jobs "
              "cover two months: group sizes follow a power law (many small groups, few large ones), runs that overlap "
              "within their groups, run times are lognormal about each group's and each workload's mean. Each run is "
              "decided with the runs that had ended when it was submitted. A group explores for itself, so the many "
              "small ones save least. `zeus simulate cluster` replays traces themselves.",
              plan.jobs)},
          .figures = {std::move(energies), std::move(times), std::move(amounts), std::move(beside)}};
}

}  // namespace zeus::research
