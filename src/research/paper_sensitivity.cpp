#include "research/paper_sensitivity.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/batch_size/zeus_policy.hpp"
#include "research/paper_trials.hpp"
#include "research/unprofiled_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace zeus::research {

namespace {

using records::ChartPoint;
using records::SeriesStyle;
using records::XyChart;

constexpr std::array betas{1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0};

// One line for each job and one for their geometric mean, for a figure of merit over the values of a parameter.
template <typename Values, typename Merit>
XyChart sweep_chart(const PaperGpu& gpu, XyChart chart, const Values& values, Merit merit) {
  std::vector<std::vector<double>> merits(std::size(values));
  for (const PaperWorkload& job : gpu.workloads) {
    records::ChartSeries series{.name = job.name, .style = SeriesStyle::line, .points = {}};
    for (std::size_t i = 0; i < std::size(values); ++i) {
      merits[i].push_back(merit(job, i));
      series.points.push_back({.x = values[i], .y = merits[i].back(), .label = {}});
    }
    chart.series.push_back(std::move(series));
  }
  records::ChartSeries mean{.name = "geometric mean", .style = SeriesStyle::line_and_points, .points = {}};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    mean.points.push_back({.x = values[i], .y = geometric_mean(merits[i]), .label = {}});
  }
  chart.series.push_back(std::move(mean));
  return chart;
}

struct Ablation {
  std::string_view key;
  std::string name;
  simulate::SimulationOptions options;
  simulate::PolicyFactory policy;
};

std::vector<Ablation> ablations() {
  const simulate::PolicyFactory zeus = [](const optimize::JobSpec& spec) {
    return optimize::make_policy("zeus", spec);
  };
  return {{.key = "whole", .name = "zeus, whole", .options = {.beta = 2.0}, .policy = zeus},
          {.key = "without_early_stopping", .name = "no early stopping", .options = {.beta = 1e9}, .policy = zeus},
          {.key = "without_pruning",
           .name = "no pruning",
           .options = {.beta = 2.0},
           .policy = [](const optimize::JobSpec& spec) -> std::unique_ptr<optimize::Policy> {
             return std::make_unique<optimize::ZeusPolicy>(spec, optimize::ZeusPolicy::Pruning::off);
           }},
          {.key = "without_profiling",
           .name = "no just-in-time profiling",
           .options = {.beta = 2.0},
           .policy = [](const optimize::JobSpec& spec) -> std::unique_ptr<optimize::Policy> {
             return std::make_unique<UnprofiledPolicy>(spec, optimize::make_policy("zeus", spec));
           }}};
}

// Explains why a job may suffer so much without pruning: its most expensive epoch may cost as much as many whole runs.
std::string expensive_epochs(const PaperGpu& gpu) {
  double most = 0.0;
  const PaperWorkload* worst = &gpu.workloads.front();
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    const std::vector<records::LimitProfile>& limits = job.workload.arms.front().limits;
    const double runs =
        stage.cost().of_epoch(limits[optimize::cheapest_limit(stage.cost(), limits)]) / stage.optimum().cost;
    if (runs > most) {
      most = runs;
      worst = &job;
    }
  }
  return fmt::format(
      "Without pruning, exploration goes on from a batch size that failed to the next smaller one, within the same "
      "recurrence; and when five tries of a recurrence have failed, the bound on its cost is lifted, so that the next "
      "one may run all its epochs. That is most expensive for {}, one epoch of which at batch size {} costs as much as "
      "{:.3g} runs of its optimum.",
      worst->name, worst->workload.arms.front().batch_size, most);
}

}  // namespace

records::FindingsSection eta_section(const PaperGpu& gpu, std::uint64_t seeds) {
  const std::array<double, 6> etas{0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  records::FindingsSection section{
      .title = "The knob eta (figure 22)",
      .paragraphs = {fmt::format("How many times less energy and time than Default the last five runs take, for "
                                 "each eta: means of {} seeds on {}. The paper: the higher eta, the more energy "
                                 "and the less time is saved.",
                                 seeds, gpu.name)},
      .figures = {}};
  for (const std::string_view policy : {std::string_view{"zeus"}, optimize::best_policy}) {
    std::vector<std::vector<std::pair<double, double>>> ratios;
    std::vector<records::FindingsSamples> energies;
    std::vector<records::FindingsSamples> times;
    for (const double value : etas) {
      energies.push_back({.key = fmt::format("energy_at_eta_{:.1f}", value), .groups = {}, .values = {}});
      times.push_back({.key = fmt::format("time_at_eta_{:.1f}", value), .groups = {}, .values = {}});
    }
    for (const PaperWorkload& job : gpu.workloads) {
      ratios.emplace_back();
      for (std::size_t i = 0; i < etas.size(); ++i) {
        const simulate::Stage stage{job.workload, etas[i]};
        const PaperTrials trials = run_trials(stage, policy, seeds);
        energies[i].add(job.name, trials.energy_ratios);
        times[i].add(job.name, trials.time_ratios);
        ratios.back().emplace_back(1.0 / trials.energy_ratio.mean(), 1.0 / trials.time_ratio.mean());
      }
    }
    const auto ratios_of = [&](const PaperWorkload& job) -> const auto& {
      return ratios[static_cast<std::size_t>(&job - gpu.workloads.data())];
    };
    section.figures.emplace_back(
        sweep_chart(gpu,
                    {.title = fmt::format("Energy, {}", policy),
                     .x = {.label = "eta"},
                     .y = {.label = "Default's energy / energy", .from_zero = true},
                     .series = {},
                     .reference = 1.0},
                    etas, [&](const PaperWorkload& job, std::size_t i) { return ratios_of(job)[i].first; }));
    section.figures.emplace_back(
        sweep_chart(gpu,
                    {.title = fmt::format("Time, {}", policy),
                     .x = {.label = "eta"},
                     .y = {.label = "Default's time / time", .from_zero = true},
                     .series = {},
                     .reference = 1.0},
                    etas, [&](const PaperWorkload& job, std::size_t i) { return ratios_of(job)[i].second; }));
    for (std::size_t i = 0; policy == "zeus" && i < etas.size(); ++i) {
      section.figures.emplace_back(std::move(energies[i]));
      section.figures.emplace_back(std::move(times[i]));
    }
  }
  return section;
}

records::FindingsSection beta_section(const PaperGpu& gpu, std::uint64_t seeds) {
  XyChart chart{.title = "Energy of all recurrences, policy zeus",
                .x = {.label = "beta"},
                .y = {.label = "energy / that with beta 2"},
                .series = {},
                .reference = 1.0};
  std::vector<std::vector<double>> energies;
  std::vector<records::FindingsSamples> samples;
  for (const double beta : betas) {
    samples.push_back({.key = fmt::format("energy_at_beta_{:.1f}", beta), .groups = {}, .values = {}});
  }
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    energies.emplace_back();
    for (std::size_t i = 0; i < betas.size(); ++i) {
      const PaperTrials trials = run_trials(stage, "zeus", seeds, betas[i]);
      energies.back().push_back(trials.total_energy.mean());
      samples[i].add(job.name, trials.total_energies);
    }
  }
  chart = sweep_chart(gpu, std::move(chart), betas, [&](const PaperWorkload& job, std::size_t i) {
    const std::vector<double>& energy = energies[static_cast<std::size_t>(&job - gpu.workloads.data())];
    return energy[i] / energy[1];
  });
  const std::vector<ChartPoint>& means = chart.series.back().points;
  const auto best = std::ranges::min_element(means, {}, &ChartPoint::y);
  records::FindingsTable table{
      .title = "Beside the paper (6.7)",
      .columns = {"", "here", "the paper"},
      .rows = {{"beta of the least geometric mean",
                fmt::format("{} ({:+.2f} % against beta 2)", best->x, 100.0 * (best->y - 1.0)), "2"}}};
  records::FindingsSection section{
      .title = "The early-stopping threshold beta (figure 12)",
      .paragraphs = {fmt::format("Energy of all recurrences, exploration included, for beta from 1.5 to 5: means of "
                                 "{} seeds on {}, eta 0.5.",
                                 seeds, gpu.name)},
      .figures = {}};
  section.figures.emplace_back(std::move(chart));
  section.figures.emplace_back(std::move(table));
  for (records::FindingsSamples& one : samples) {
    section.figures.emplace_back(std::move(one));
  }
  return section;
}

records::FindingsSection ablation_section(const PaperGpu& gpu, std::uint64_t seeds) {
  records::BarChart chart{.title = fmt::format("Cost of all recurrences on {}", gpu.name),
                          .y = {.label = "cost / that of policy zeus", .logarithmic = true},
                          .groups = {},
                          .series = {},
                          .reference = 1.0};
  const std::vector<Ablation> parts = ablations();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    chart.series.push_back({.name = parts[i].name, .values = {}, .deviations = {}});
  }
  std::vector<std::vector<double>> all(parts.size());
  std::vector<records::FindingsSamples> samples;
  for (const Ablation& part : parts) {
    samples.push_back({.key = fmt::format("cost_{}", part.key), .groups = {}, .values = {}});
  }
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    chart.groups.push_back(job.name);
    double whole = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      simulate::SimulationOptions options = parts[i].options;
      options.recurrences = paper_recurrences(job.workload);
      const PaperTrials trials = run_trials(stage, options, parts[i].policy, seeds);
      const double cost = static_cast<double>(options.recurrences) + trials.regret.mean();
      std::vector<double> costs = trials.regrets;
      for (double& one : costs) {
        one += static_cast<double>(options.recurrences);
      }
      samples[i].add(job.name, costs);
      whole = i == 0 ? cost : whole;
      if (i > 0) {
        chart.series[i - 1].values.emplace_back(cost / whole);
        all[i].push_back(cost / whole);
      }
    }
  }
  records::FindingsTable table{
      .title = "Geometric mean of all jobs", .columns = {"without", "cost / that of policy zeus"}, .rows = {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    table.rows.push_back({parts[i].name, fmt::format("{:.3f}", geometric_mean(all[i]))});
  }
  records::FindingsSection section{
      .title = "What each part contributes (figure 13)",
      .paragraphs = {fmt::format(
                         "The cost of all recurrences with one part of policy zeus removed: means of {} seeds on {}. "
                         "Without early stopping beta has no bound; without pruning a batch size that failed is "
                         "kept; without just-in-time profiling each limit of a batch size is tried in a recurrence of "
                         "its own. The paper states no number, and finds that zeus benefits most from early stopping.",
                         seeds, gpu.name),
                     expensive_epochs(gpu)},
      .figures = {}};
  section.figures.emplace_back(std::move(chart));
  section.figures.emplace_back(std::move(table));
  for (records::FindingsSamples& one : samples) {
    section.figures.emplace_back(std::move(one));
  }
  return section;
}

records::FindingsSection overhead_section(const PaperGpu& gpu) {
  records::FindingsTable table{
      .title = fmt::format("One run at the default batch size on {}, with profiling against without", gpu.name),
      .columns = {"job", "profiling takes", "an epoch takes", "energy", "time", "the paper (6.5)"},
      .rows = {}};
  records::FindingsSamples energies{.key = "profiling_energy", .groups = {}, .values = {}};
  records::FindingsSamples times{.key = "profiling_time", .groups = {}, .values = {}};
  for (const PaperWorkload& job : gpu.workloads) {
    const simulate::Stage stage{job.workload, paper_eta};
    const std::size_t arm = job.workload.arm_of(job.workload.default_batch_size);
    const simulate::WorkloadArm& size = job.workload.arms[arm];
    const std::size_t best = optimize::cheapest_limit(stage.cost(), size.limits);
    const records::LimitProfile& chosen = size.limits[best];
    const double epochs = size.mean_epochs(job.workload.max_epochs);
    Seconds spent;
    Joules energy;
    double progress = 0.0;
    for (const records::LimitProfile& profile : size.limits) {
      const Seconds share = std::min(Seconds{5}, profile.epoch_time / static_cast<double>(size.limits.size()));
      spent += share;
      energy += profile.average_power * share;
      progress += share / profile.epoch_time;
    }
    const Seconds plain_time = chosen.epoch_time * epochs;
    const Joules plain_energy = chosen.average_power * plain_time;
    const Seconds time = spent + chosen.epoch_time * (epochs - progress);
    const Joules used = energy + chosen.average_power * (time - spent);
    energies.add(job.name, {used / plain_energy - 1.0});
    times.add(job.name, {time / plain_time - 1.0});
    std::string paper;
    if (job.name == "DeepSpeech2") {
      paper = "energy +0.01 %, time +0.03 %";
    } else if (job.name == "ShuffleNet V2") {
      paper = "energy -2.8 %, time +0.6 %";
    }
    table.rows.push_back({job.name, fmt::format("{:.1f} s", spent.value()),
                          fmt::format("{:.1f} s", chosen.epoch_time.value()),
                          fmt::format("{:+.3f} %", 100.0 * (used / plain_energy - 1.0)),
                          fmt::format("{:+.3f} %", 100.0 * (time / plain_time - 1.0)), paper});
  }
  records::FindingsSection section{
      .title = "What just-in-time profiling costs (section 6.5)",
      .paragraphs =
          {"Five seconds under each limit (or an equal share of an epoch, where that is less), during which training "
           "goes "
           "on, against a run that knew the best limit beforehand. The paper measured real runs; this replays the "
           "traces."},
      .figures = {}};
  section.figures.emplace_back(std::move(table));
  section.figures.emplace_back(std::move(energies));
  section.figures.emplace_back(std::move(times));
  return section;
}

}  // namespace zeus::research
