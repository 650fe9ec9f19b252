#include "research/paper_convergence.hpp"

#include "research/paper_trials.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zeus::research {

namespace {

using records::SeriesStyle;
using records::XyChart;

struct LastFive {
  records::BarChart energy;
  records::BarChart time;
  records::FindingsSamples energies;  // of policy zeus
  records::FindingsSamples times;
};

LastFive last_five(const PaperGpu& gpu, std::uint64_t seeds) {
  LastFive charts{.energy = {.title = fmt::format("Energy on {}", gpu.name),
                             .y = {.label = "energy / Default's", .from_zero = true},
                             .groups = {},
                             .series = {},
                             .reference = 1.0},
                  .time = {.title = fmt::format("Training time on {}", gpu.name),
                           .y = {.label = "time / Default's", .from_zero = true},
                           .groups = {},
                           .series = {},
                           .reference = 1.0},
                  .energies = {.key = fmt::format("energy_on_{}", gpu.name), .groups = {}, .values = {}},
                  .times = {.key = fmt::format("time_on_{}", gpu.name), .groups = {}, .values = {}}};
  for (const PaperPolicy& policy : paper_policies()) {
    charts.energy.series.push_back({.name = policy.label, .values = {}, .deviations = {}});
    charts.time.series.push_back({.name = policy.label, .values = {}, .deviations = {}});
  }
  charts.energy.series.push_back({.name = "the optimum", .values = {}, .deviations = {}});
  charts.time.series.push_back({.name = "the optimum", .values = {}, .deviations = {}});
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    charts.energy.groups.push_back(job.name);
    charts.time.groups.push_back(job.name);
    std::size_t series = 0;
    for (const PaperPolicy& policy : paper_policies()) {
      const PaperTrials trials = run_trials(stage, policy.policy, seeds);
      charts.energy.series[series].values.emplace_back(trials.energy_ratio.mean());
      charts.energy.series[series].deviations.push_back(trials.energy_ratio.deviation());
      charts.time.series[series].values.emplace_back(trials.time_ratio.mean());
      charts.time.series[series].deviations.push_back(trials.time_ratio.deviation());
      if (policy.policy == "zeus") {
        charts.energies.add(job.name, trials.energy_ratios);
        charts.times.add(job.name, trials.time_ratios);
      }
      ++series;
    }
    charts.energy.series[series].values.emplace_back(stage.optimum().energy / stage.default_configuration().energy);
    charts.energy.series[series].deviations.push_back(0.0);
    charts.time.series[series].values.emplace_back(stage.optimum().time / stage.default_configuration().time);
    charts.time.series[series].deviations.push_back(0.0);
  }
  return charts;
}

records::FindingsTable as_table(const records::BarChart& chart, std::string title) {
  records::FindingsTable table{.title = std::move(title), .columns = {"job"}, .rows = {}};
  for (const records::BarSeries& series : chart.series) {
    table.columns.push_back(series.name);
  }
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    std::vector<std::string> row{chart.groups[group]};
    for (const records::BarSeries& series : chart.series) {
      row.push_back(fmt::format("{:.3f}", series.values[group].value_or(0.0)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The lowest and the highest of a series, as changes against Default.
std::string range_of_changes(const records::BarSeries& series) {
  const auto [low, high] = std::ranges::minmax(series.values);
  return fmt::format("{:+.1f} % to {:+.1f} %", 100.0 * (*low - 1.0), 100.0 * (*high - 1.0));
}

records::GridChart path_chart(const PaperWorkload& job, const simulate::Stage& stage, const PaperPolicy& policy) {
  const simulate::Workload& workload = job.workload;
  const std::vector<Watts> limits = workload.limits();
  records::GridChart chart{.title = fmt::format("{}: {}", job.name, policy.label),
                           .column_label = "batch size",
                           .row_label = "power limit (W)",
                           .value_label = "cost above the optimum's, as a fraction of it",
                           .columns = {},
                           .rows = {},
                           .values = {},
                           .path = {}};
  for (const simulate::WorkloadArm& arm : workload.arms) {
    chart.columns.push_back(fmt::format("{}", arm.batch_size));
  }
  for (const Watts limit : limits) {
    chart.rows.push_back(fmt::format("{}", limit.value()));
    for (std::size_t arm = 0; arm < workload.arms.size(); ++arm) {
      const std::size_t index = workload.limit_of(arm, limit);
      const bool reaches = workload.arms[arm].ever_reaches(workload.max_epochs);
      chart.values.push_back(reaches && index < workload.arms[arm].limits.size()
                                 ? std::optional{stage.expected_cost(arm, index) / stage.optimum().cost - 1.0}
                                 : std::nullopt);
    }
  }
  for (const simulate::SimulatedTry& attempt : search_path(stage, policy.policy)) {
    const Watts limit = workload.arms[attempt.result.arm].limits[attempt.result.limit].limit;
    const auto row = static_cast<std::size_t>(std::ranges::find(limits, limit) - limits.begin());
    chart.path.push_back({.column = attempt.result.arm, .row = row});
  }
  return chart;
}

}  // namespace

records::FindingsSection convergence_section(const PaperGpu& gpu, std::uint64_t seeds) {
  LastFive charts = last_five(gpu, seeds);
  records::FindingsSection section{
      .title = "Where the policies end (figure 6)",
      .paragraphs = {fmt::format("Energy and time of the last five runs that reached the target, relative to "
                                 "Default: means of {} seeds on {}, eta 0.5, beta 2, 2 x batch sizes x limits "
                                 "recurrences; the bars' whiskers are one standard deviation between seeds.",
                                 seeds, gpu.name)},
      .figures = {}};
  records::FindingsTable paper{
      .title = "Beside the paper (6.2)", .columns = {"", "energy", "training time"}, .rows = {}};
  for (std::size_t i = 0; i < charts.energy.series.size(); ++i) {
    paper.rows.push_back({charts.energy.series[i].name, range_of_changes(charts.energy.series[i]),
                          range_of_changes(charts.time.series[i])});
  }
  paper.rows.push_back({"the paper's Zeus, V100", "-75.8 % to -15.3 %", "-60.1 % to +12.8 %"});
  records::FindingsTable energy = as_table(charts.energy, "Energy / Default's");
  records::FindingsTable time = as_table(charts.time, "Time / Default's");
  section.figures.emplace_back(std::move(charts.energy));
  section.figures.emplace_back(std::move(charts.time));
  section.figures.emplace_back(std::move(energy));
  section.figures.emplace_back(std::move(time));
  section.figures.emplace_back(std::move(paper));
  return section;
}

records::FindingsSection choice_section(const PaperGpu& gpu) {
  records::FindingsSection section{
      .title = "How batch sizes are chosen (figure 4)",
      .paragraphs = {fmt::format("The batch sizes of policy zeus on {}, first seed: each point is a try. While it "
                                 "explores, it tries the default, then smaller ones until one fails, then larger ones "
                                 "until one fails; and all of that twice. Then it chooses by its belief.",
                                 gpu.name)},
      .figures = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    XyChart chart{.title = job.name,
                  .x = {.label = "recurrence", .from_zero = true},
                  .y = {.label = "batch size", .logarithmic = true},
                  .series = {{.name = "explored", .style = SeriesStyle::points, .points = {}},
                             {.name = "chosen by belief", .style = SeriesStyle::faint_points, .points = {}}},
                  .reference = std::nullopt};
    for (const ChosenTry& one : chosen_tries(simulate::Stage{job.workload, paper_eta}, "zeus")) {
      chart.series[one.explored ? 0 : 1].points.push_back(
          {.x = static_cast<double>(one.recurrence + 1), .y = static_cast<double>(one.batch_size), .label = {}});
    }
    section.figures.emplace_back(std::move(chart));
  }
  return section;
}

records::FindingsSection regret_section(const PaperGpu& gpu, std::uint64_t seeds) {
  records::FindingsSection section{
      .title = "What exploration costs (figures 7 and 19)",
      .paragraphs = {fmt::format("Cumulative regret: the cost of all tries, failed ones and profiling included, "
                                 "minus that of as many runs of the optimum, in units of one such run. Means of "
                                 "{} seeds on {}, eta 0.5.",
                                 seeds, gpu.name)},
      .figures = {}};
  records::FindingsTable table{
      .title = "Regret at the end (runs of the optimum)", .columns = {"job", "recurrences"}, .rows = {}};
  for (const PaperPolicy& policy : paper_policies()) {
    table.columns.push_back(policy.label);
  }
  table.columns.emplace_back("Grid search / zeus");
  table.columns.emplace_back("default policy / zeus");
  double worst = 0.0;
  records::FindingsSamples of_grid{.key = "regret_of_grid", .groups = {}, .values = {}};
  records::FindingsSamples of_zeus{.key = "regret_of_zeus", .groups = {}, .values = {}};
  records::FindingsSamples at_optimum{.key = "grid_ends_at_optimum", .groups = {}, .values = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    XyChart chart{.title = job.name,
                  .x = {.label = "recurrence", .from_zero = true},
                  .y = {.label = "cumulative regret (runs of the optimum)", .from_zero = true},
                  .series = {}};
    std::vector<std::string> row{job.name, fmt::format("{}", paper_recurrences(job.workload))};
    std::vector<double> regrets;
    for (const PaperPolicy& policy : paper_policies()) {
      const PaperTrials trials = run_trials(stage, policy.policy, seeds);
      records::ChartSeries series{.name = policy.label, .style = SeriesStyle::line, .points = {}};
      for (std::size_t i = 0; i < trials.cumulative.size(); ++i) {
        const double mean = trials.cumulative[i].mean();
        const double deviation = trials.cumulative[i].deviation();
        series.points.push_back({.x = static_cast<double>(i + 1),
                                 .y = mean,
                                 .low = mean - deviation,
                                 .high = mean + deviation,
                                 .label = {}});
      }
      chart.series.push_back(std::move(series));
      if (policy.policy == "grid") {
        of_grid.add(job.name, trials.regrets);
        at_optimum.add(job.name, trials.ends_at_optimum);
      } else if (policy.policy == "zeus") {
        of_zeus.add(job.name, trials.regrets);
      }
      regrets.push_back(trials.regret.mean());
      row.push_back(fmt::format("{:.2f}", regrets.back()));
    }
    worst = std::max(worst, regrets[0] / regrets[1]);
    row.push_back(fmt::format("{:.1f}", regrets[0] / regrets[1]));
    row.push_back(fmt::format("{:.2f}", regrets[2] / regrets[1]));
    table.rows.push_back(std::move(row));
    section.figures.emplace_back(std::move(chart));
  }
  section.figures.emplace_back(std::move(table));
  section.figures.emplace_back(records::FindingsTable{
      .title = "Beside the paper (6.2)",
      .columns = {"", "here", "the paper"},
      .rows = {{"most that Grid search's regret exceeds zeus's", fmt::format("{:.1f} times, at the end", worst),
                "72 times, until convergence"}}});
  for (records::FindingsSamples* const samples : {&of_grid, &of_zeus, &at_optimum}) {
    section.figures.emplace_back(std::move(*samples));
  }
  return section;
}

records::FindingsSection path_section(const PaperGpu& gpu) {
  records::FindingsSection section{
      .title = "Search paths (figures 8, 20 and 21)",
      .paragraphs = {fmt::format("The tries of the first seed on {} over all configurations; darker ones are "
                                 "cheaper, empty ones never reach the target. The line goes from the ring, where "
                                 "the job began, to the dot, where it ended.",
                                 gpu.name)},
      .figures = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    for (const PaperPolicy& policy : paper_policies()) {
      section.figures.emplace_back(path_chart(job, stage, policy));
    }
  }
  return section;
}

records::FindingsSection gpu_section(const std::vector<PaperGpu>& gpus, std::uint64_t seeds) {
  records::FindingsSection section{
      .title = "GPU models (figures 14 and 23)",
      .paragraphs = {"As above on each GPU whose power trace was given, and the geometric mean over the jobs. The "
                     "paper finds consistent reductions on four generations and states no number."},
      .figures = {}};
  records::BarChart means{.title = "Geometric mean of all jobs",
                          .y = {.label = "energy / Default's", .from_zero = true},
                          .groups = {},
                          .series = {},
                          .reference = 1.0};
  for (const PaperGpu& gpu : gpus) {
    LastFive charts = last_five(gpu, seeds);
    means.groups.push_back(gpu.name);
    means.series.resize(charts.energy.series.size());
    for (std::size_t i = 0; i < charts.energy.series.size(); ++i) {
      std::vector<double> ratios;
      for (const std::optional<double>& value : charts.energy.series[i].values) {
        ratios.push_back(*value);
      }
      means.series[i].name = charts.energy.series[i].name;
      means.series[i].values.emplace_back(geometric_mean(ratios));
    }
    section.figures.emplace_back(std::move(charts.energy));
    section.figures.emplace_back(std::move(charts.time));
    section.figures.emplace_back(std::move(charts.energies));
    section.figures.emplace_back(std::move(charts.times));
  }
  records::FindingsTable table = as_table(means, "Geometric mean of energy / Default's");
  table.columns[0] = "GPU";
  section.figures.emplace_back(std::move(means));
  section.figures.emplace_back(std::move(table));
  return section;
}

}  // namespace zeus::research
