#include "research/paper_potential.hpp"

#include "optimize/cost/energy_time_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace zeus::research {

namespace {

using records::ChartPoint;
using records::SeriesStyle;
using records::XyChart;

constexpr double zoom = 1.3;

double kilojoules(Joules energy) {
  return energy.value() / 1000.0;
}

// A configuration whose every run reaches the target.
struct Candidate {
  simulate::Configuration at;
  int batch_size = 0;
  Watts limit;
};

std::vector<Candidate> candidates(const simulate::Workload& workload, double eta) {
  const optimize::EnergyTimeCost cost{eta, workload.max_power};
  std::vector<Candidate> result;
  for (std::size_t arm = 0; arm < workload.arms.size(); ++arm) {
    if (!workload.arms[arm].always_reaches(workload.max_epochs)) {
      continue;
    }
    for (std::size_t limit = 0; limit < workload.arms[arm].limits.size(); ++limit) {
      result.push_back({.at = simulate::mean_of(workload, cost, arm, limit),
                        .batch_size = workload.arms[arm].batch_size,
                        .limit = workload.arms[arm].limits[limit].limit});
    }
  }
  return result;
}

simulate::Configuration reference(const simulate::Workload& workload) {
  return default_configuration(workload, optimize::EnergyTimeCost{0.5, workload.max_power});
}

template <typename Keep>
std::optional<double> least_energy_ratio(const simulate::Workload& workload, Keep keep) {
  const Joules base = reference(workload).energy;
  std::optional<double> least;
  for (const Candidate& candidate : candidates(workload, 1.0)) {
    if (keep(candidate)) {
      const double ratio = candidate.at.energy / base;
      least = least ? std::min(*least, ratio) : ratio;
    }
  }
  return least;
}

std::string range_of_savings(const std::vector<std::optional<double>>& ratios) {
  double least = 1.0;
  double most = 0.0;
  for (const std::optional<double>& ratio : ratios) {
    if (ratio) {
      least = std::min(least, 1.0 - *ratio);
      most = std::max(most, 1.0 - *ratio);
    }
  }
  return fmt::format("{:.1f} % to {:.1f} %", 100.0 * least, 100.0 * most);
}

// Keeps of points in ascending order of time those with less energy than all before.
std::vector<ChartPoint> front_of(std::vector<ChartPoint> points) {
  std::ranges::sort(points, [](const ChartPoint& a, const ChartPoint& b) {
    return std::pair{a.x, a.y} < std::pair{b.x, b.y};
  });
  std::vector<ChartPoint> front;
  for (const ChartPoint& point : points) {
    if (front.empty() || point.y < front.back().y) {
      front.push_back(point);
    }
  }
  return front;
}

ChartPoint point_of(const Candidate& candidate) {
  return {.x = candidate.at.time.value() / 60.0,
          .y = kilojoules(candidate.at.energy),
          .label = fmt::format("batch size {}, {} W", candidate.batch_size, candidate.limit.value())};
}

XyChart front_chart(const PaperWorkload& job) {
  XyChart chart{.title = job.name, .x = {.label = "training time (min)"}, .y = {.label = "energy (kJ)"}, .series = {}};
  std::vector<ChartPoint> all;
  for (const Candidate& candidate : candidates(job.workload, 0.5)) {
    all.push_back(point_of(candidate));
  }
  const simulate::Configuration base = reference(job.workload);
  const ChartPoint fallback{.x = base.time.value() / 60.0, .y = kilojoules(base.energy), .label = "Default"};
  const std::vector<ChartPoint> front = front_of(all);
  std::vector<ChartPoint> chosen;
  for (int step = 0; step <= 10; ++step) {
    const double eta = step / 10.0;
    const std::vector<Candidate> options = candidates(job.workload, eta);
    const auto best = std::ranges::min_element(options, {}, [](const Candidate& c) { return c.at.cost; });
    if (best == options.end()) {
      continue;
    }
    ChartPoint point = point_of(*best);
    point.label = fmt::format("eta {:.1f}: {}", eta, point.label);
    chosen.push_back(point);
  }
  // Points far from the front and from Default would only shrink both.
  const double widest = zoom * std::max(fallback.x, front.empty() ? 0.0 : front.back().x);
  const double tallest = zoom * std::max(fallback.y, front.empty() ? 0.0 : front.front().y);
  std::erase_if(all, [&](const ChartPoint& point) { return point.x > widest || point.y > tallest; });
  // In the order of the same chart of a job (report/job_figures.cpp), for the same colours; the scorecard reads them.
  chart.series = {{.name = "configurations", .style = SeriesStyle::faint_points, .points = all},
                  {.name = "Pareto front", .style = SeriesStyle::line, .points = front},
                  {.name = "Default", .style = SeriesStyle::large_points, .points = {fallback}},
                  {.name = "best for eta 0 to 1", .style = SeriesStyle::points, .points = chosen}};
  return chart;
}

// The best configuration for one eta, as "(batch size, W)".
std::string best_at(const simulate::Workload& workload, double eta) {
  const std::vector<Candidate> options = candidates(workload, eta);
  const auto best = std::ranges::min_element(options, {}, [](const Candidate& c) { return c.at.cost; });
  return best == options.end() ? std::string{"none"} : fmt::format("({}, {} W)", best->batch_size, best->limit.value());
}

XyChart batch_chart(const PaperWorkload& job) {
  XyChart chart{
      .title = job.name,
      .x = {.label = "batch size", .logarithmic = true},
      .y = {.label = "energy (kJ)", .from_zero = true},
      .series = {{.name = "mean of runs, at its best limit", .style = SeriesStyle::line_and_points, .points = {}}}};
  const int most = job.workload.max_epochs;
  for (const simulate::WorkloadArm& size : job.workload.arms) {
    if (!size.always_reaches(most)) {
      continue;
    }
    Joules least{1e300};
    for (const records::LimitProfile& profile : size.limits) {
      least = std::min(least, profile.average_power * profile.epoch_time);
    }
    const auto [low, high] = std::ranges::minmax(size.runs);
    chart.series[0].points.push_back({.x = static_cast<double>(size.batch_size),
                                      .y = kilojoules(least * size.mean_epochs(most)),
                                      .low = kilojoules(least * *low),
                                      .high = kilojoules(least * *high),
                                      .label = {}});
  }
  return chart;
}

XyChart limit_chart(const PaperWorkload& job) {
  XyChart chart{.title = fmt::format("{}, batch size {}", job.name, job.workload.default_batch_size),
                .x = {.label = "power limit (W)"},
                .y = {.label = "energy (kJ)", .from_zero = true},
                .series = {{.name = "mean of runs", .style = SeriesStyle::line_and_points, .points = {}}}};
  const optimize::EnergyTimeCost cost{1.0, job.workload.max_power};
  const std::size_t arm = job.workload.arm_of(job.workload.default_batch_size);
  for (std::size_t limit = 0; limit < job.workload.arms[arm].limits.size(); ++limit) {
    chart.series[0].points.push_back({.x = job.workload.arms[arm].limits[limit].limit.value(),
                                      .y = kilojoules(simulate::mean_of(job.workload, cost, arm, limit).energy),
                                      .label = {}});
  }
  return chart;
}

}  // namespace

records::FindingsSection potential_section(const std::vector<PaperGpu>& gpus) {
  records::FindingsSection section{
      .title = "What could be saved (figures 1 and 15)",
      .paragraphs =
          {"Energy to the target with the best batch size, the best power limit, and both, for those batch sizes "
           "whose recorded runs all reach the target; relative to Default, which is the published batch size "
           "under the highest limit."},
      .figures = {}};
  records::FindingsTable table{.title = "Energy saved, least to most of the jobs",
                               .columns = {"GPU", "batch size alone", "power limit alone", "both"},
                               .rows = {}};
  for (const PaperGpu& gpu : gpus) {
    records::BarChart chart{.title = gpu.name,
                            .y = {.label = "energy / Default's", .from_zero = true},
                            .groups = {},
                            .series = {{.name = "best batch size", .values = {}, .deviations = {}},
                                       {.name = "best limit", .values = {}, .deviations = {}},
                                       {.name = "both", .values = {}, .deviations = {}}},
                            .reference = 1.0};
    for (const PaperWorkload& job : gpu.workloads) {
      const simulate::Workload& workload = job.workload;
      chart.groups.push_back(job.name);
      chart.series[0].values.push_back(
          least_energy_ratio(workload, [&](const Candidate& c) { return c.limit == workload.max_limit; }));
      chart.series[1].values.push_back(least_energy_ratio(
          workload, [&](const Candidate& c) { return c.batch_size == workload.default_batch_size; }));
      chart.series[2].values.push_back(least_energy_ratio(workload, [](const Candidate&) { return true; }));
    }
    table.rows.push_back({gpu.name, range_of_savings(chart.series[0].values), range_of_savings(chart.series[1].values),
                          range_of_savings(chart.series[2].values)});
    section.figures.emplace_back(std::move(chart));
  }
  table.rows.push_back({"the paper, V100 (2.2)", "3.4 % to 65.0 %", "3.0 % to 31.5 %", "23.8 % to 74.7 %"});
  section.figures.emplace_back(std::move(table));
  return section;
}

records::FindingsSection front_section(const PaperGpu& gpu) {
  records::FindingsSection section{
      .title = "Time against energy, and eta (figures 2, 11 and 16)",
      .paragraphs = {fmt::format("Every configuration on {} as its mean over the recorded runs. The best one "
                                 "moves along the Pareto front as eta goes from 0 (time alone) to 1 (energy "
                                 "alone). Configurations more than 1.3 times beyond both are not shown.",
                                 gpu.name)},
      .figures = {}};
  records::FindingsTable table{
      .title = "The best (batch size, limit)",
      .columns = {"job", "for time (eta 0)", "for both (eta 0.5)", "for energy (eta 1)", "the paper"},
      .rows = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    section.figures.emplace_back(front_chart(job));
    const bool stated = job.name == "DeepSpeech2" && gpu.name == "V100";
    table.rows.push_back({job.name, best_at(job.workload, 0.0), best_at(job.workload, 0.5), best_at(job.workload, 1.0),
                          stated ? "(48, 250 W) for time, (32, 100 W) for energy (2.3)" : ""});
  }
  section.figures.emplace_back(std::move(table));
  return section;
}

records::FindingsSection shape_section(const PaperGpu& gpu) {
  records::FindingsSection section{
      .title = "Energy over each knob (figures 5, 17 and 18)",
      .paragraphs = {fmt::format(
          "Energy to the target on {}: over the batch size, where the range is that of the recorded "
          "runs and batch sizes that may miss the target are left out; and over the power limit at the "
          "default batch size. The paper's point is that the first is convex around its lowest point.",
          gpu.name)},
      .figures = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    section.figures.emplace_back(batch_chart(job));
  }
  for (const PaperWorkload& job : gpu.workloads) {
    section.figures.emplace_back(limit_chart(job));
  }
  return section;
}

}  // namespace zeus::research
