#include "research/paper_drift.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "research/paper_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::research {

namespace {

using records::ChartPoint;
using records::SeriesStyle;
using records::XyChart;

constexpr std::string_view drift_title = "Drift (section 6.4, figure 10)";
constexpr std::uint64_t recurrences = 120;
constexpr std::uint64_t drift_at = recurrences / 2;
constexpr std::size_t window_of_zeus = 10;
constexpr double close_enough = 1.05;
constexpr double worse = 1.2;
constexpr std::size_t in_a_row = 5;

// The recurrences after the drift until five in a row expect to cost at most 5 % more than the new optimum; nothing if
// that does not happen.
std::optional<double> recovery(const simulate::SimulatedJob& job) {
  std::size_t row = 0;
  for (std::size_t i = drift_at; i < job.recurrences.size(); ++i) {
    row = job.recurrences[i].last_expected <= close_enough * job.recurrences[i].optimum ? row + 1 : 0;
    if (row == in_a_row) {
      return static_cast<double>(i + 1 - drift_at);
    }
  }
  return std::nullopt;
}

struct DriftingJob {
  const PaperWorkload* job = nullptr;
  simulate::Workload later;
};

bool moves_enough(const simulate::Workload& workload, const simulate::Workload& later) {
  if (!later.arms[later.arm_of(later.default_batch_size)].always_reaches(later.max_epochs)) {
    return false;
  }
  const simulate::Stage before{workload, paper_eta};
  const simulate::Stage after{later, paper_eta};
  const std::size_t old_arm = before.optimum().arm;
  const std::size_t new_arm = after.optimum().arm;
  const double octaves =
      std::abs(std::log2(static_cast<double>(workload.arms[new_arm].batch_size) / workload.arms[old_arm].batch_size));
  if (octaves < 2.0 || !later.arms[old_arm].ever_reaches(later.max_epochs)) {
    return false;
  }
  // Worse than before, so that it is noticed, and worse than the new best, so that it matters.
  const Joules now = after.expected_cost(old_arm, before.optimum().limit);
  return now >= worse * before.optimum().cost && now >= worse * after.optimum().cost;
}

std::optional<DriftingJob> find_drift(const PaperGpu& gpu) {
  for (const PaperWorkload& job : gpu.workloads) {
    for (const double factor : {0.25, 4.0, 0.125, 8.0, 0.0625, 16.0}) {
      DriftingJob drift{.job = &job, .later = drifted(job.workload, factor)};
      if (moves_enough(job.workload, drift.later)) {
        return drift;
      }
    }
  }
  return std::nullopt;
}

// One policy's seeds.
struct DriftTrials {
  records::ChartSeries chosen;  // batch sizes that reached the target, first seed
  records::ChartSeries paid;    // mean cost of each recurrence, relative to the optimum's
  records::ChartSeries energy;  // mean energy of each recurrence's tries, relative to Default's before the drift
  records::ChartSeries time;    // their mean time, likewise
  std::uint64_t recovered = 0;
  simulate::Spread recoveries;
};

// Policy zeus forgets, as in the paper; the default policy notices changes by itself.
std::size_t window_of(const PaperPolicy& policy) {
  return policy.policy == "zeus" ? window_of_zeus : 0;
}

std::vector<ChartPoint> means_of(const std::vector<simulate::Spread>& spreads) {
  std::vector<ChartPoint> points;
  for (const simulate::Spread& spread : spreads) {
    points.push_back({.x = static_cast<double>(points.size() + 1), .y = spread.mean(), .label = {}});
  }
  return points;
}

// Axes of a figure over the recurrences.
XyChart chart_over_recurrences(std::string name, std::string label, std::optional<double> reference) {
  return {.title = std::move(name),
          .x = {.label = "recurrence", .from_zero = true},
          .y = {.label = std::move(label), .from_zero = true},
          .series = {},
          .reference = reference};
}

DriftTrials run_drift(std::span<const simulate::Phase> phases, const PaperPolicy& policy, std::uint64_t seeds) {
  const simulate::PolicyFactory factory = [&](const optimize::JobSpec& spec) {
    return optimize::make_policy(policy.policy, spec);
  };
  DriftTrials trials{.chosen = {.name = policy.label, .style = SeriesStyle::line_and_points, .points = {}},
                     .paid = {.name = policy.label, .style = SeriesStyle::line, .points = {}},
                     .energy = {.name = policy.label, .style = SeriesStyle::line, .points = {}},
                     .time = {.name = policy.label, .style = SeriesStyle::line, .points = {}}};
  const simulate::Configuration& reference = phases.front().stage->default_configuration();
  std::vector<simulate::Spread> paid(recurrences);
  std::vector<simulate::Spread> energy(recurrences);
  std::vector<simulate::Spread> time(recurrences);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const simulate::SimulatedJob run = simulate::simulate_job(
        phases, {.beta = 2.0, .window = window_of(policy), .recurrences = recurrences}, factory, seed);
    std::vector<double> energies(recurrences, 0.0);
    std::vector<double> times(recurrences, 0.0);
    for (const simulate::SimulatedTry& attempt : run.tries) {
      energies[attempt.recurrence] += attempt.result.energy / reference.energy;
      times[attempt.recurrence] += attempt.result.time / reference.time;
    }
    for (std::size_t i = 0; i < recurrences; ++i) {
      paid[i].add(run.recurrences[i].cost / run.recurrences[i].optimum);
      energy[i].add(energies[i]);
      time[i].add(times[i]);
    }
    if (const auto after_drift = recovery(run)) {
      trials.recoveries.add(*after_drift);
      ++trials.recovered;
    }
    for (const simulate::SimulatedTry& attempt : run.tries) {
      if (seed == 1 && reached(attempt.result.outcome)) {
        const int batch_size = phases.front().stage->workload().arms[attempt.result.arm].batch_size;
        trials.chosen.points.push_back(
            {.x = static_cast<double>(attempt.recurrence + 1), .y = static_cast<double>(batch_size), .label = {}});
      }
    }
  }
  trials.paid.points = means_of(paid);
  trials.energy.points = means_of(energy);
  trials.time.points = means_of(time);
  return trials;
}

}  // namespace

simulate::Workload drifted(const simulate::Workload& workload, double factor) {
  simulate::Workload result = workload;
  for (simulate::WorkloadArm& arm : result.arms) {
    const auto distance = [&](const simulate::WorkloadArm& other) {
      return std::abs(std::log2(static_cast<double>(other.batch_size) / (factor * arm.batch_size)));
    };
    arm.runs = std::ranges::min_element(workload.arms, {}, distance)->runs;
  }
  const auto works = [&](const simulate::WorkloadArm& arm) { return arm.always_reaches(workload.max_epochs); };
  if (std::ranges::none_of(result.arms, works)) {
    return result;
  }
  const optimize::EnergyTimeCost cost{paper_eta, workload.max_power};
  const double harder = optimum(workload, cost).cost / optimum(result, cost).cost;
  for (simulate::WorkloadArm& arm : result.arms) {
    for (std::optional<int>& run : arm.runs) {
      run = run && harder > 1.0 ? std::optional{static_cast<int>(std::lround(*run * harder))} : run;
    }
  }
  return result;
}

records::FindingsSection drift_section(const PaperGpu& gpu, std::uint64_t seeds) {
  const std::optional<DriftingJob> drift = find_drift(gpu);
  if (!drift) {
    return {.title = std::string{drift_title},
            .paragraphs =
                {"There is no trace of Capriccio, the paper's data set with drift, and none of the given jobs can be "
                 "made to drift so that its best batch size moves by two octaves."},
            .figures = {}};
  }
  const PaperWorkload& job = *drift->job;
  const simulate::Workload& later = drift->later;
  const simulate::Stage before{job.workload, paper_eta};
  const simulate::Stage after{later, paper_eta};
  const std::array phases{simulate::Phase{.from_recurrence = 0, .stage = &before, .device = {}},
                          simulate::Phase{.from_recurrence = drift_at, .stage = &after, .device = {}}};
  XyChart sizes{.title = fmt::format("{}: batch size that reached, first seed", job.name),
                .x = {.label = "recurrence", .from_zero = true},
                .y = {.label = "batch size", .logarithmic = true},
                .series = {},
                .reference = std::nullopt};
  XyChart costs = chart_over_recurrences(fmt::format("{}: cost of each recurrence", job.name),
                                         "cost / the optimum's at the time", 1.0);
  XyChart energies = chart_over_recurrences(fmt::format("{}: energy of each recurrence", job.name),
                                            "energy / Default's before the drift", std::nullopt);
  XyChart times = chart_over_recurrences(fmt::format("{}: time of each recurrence", job.name),
                                         "time / Default's before the drift", std::nullopt);
  records::FindingsTable table{
      .title = "After the drift",
      .columns = {"policy", "seeds with five in a row within 5 % of the new optimum", "mean recurrences until then"},
      .rows = {}};
  for (const PaperPolicy& policy : paper_policies()) {
    if (policy.policy == "grid") {
      continue;
    }
    DriftTrials trials = run_drift(phases, policy, seeds);
    sizes.series.push_back(std::move(trials.chosen));
    costs.series.push_back(std::move(trials.paid));
    energies.series.push_back(std::move(trials.energy));
    times.series.push_back(std::move(trials.time));
    table.rows.push_back({policy.label, fmt::format("{} of {}", trials.recovered, seeds),
                          trials.recovered == 0 ? "" : fmt::format("{:.1f}", trials.recoveries.mean())});
  }
  return {.title = std::string{drift_title},
          .paragraphs = {fmt::format(
              "There is no trace of Capriccio, the paper's data set with drift. Instead, {} on {} drifts after {} "
              "recurrences: batch sizes trade the epochs they take, so that the best one moves from {} to {}. Policy "
              "zeus remembers {} observations, as in the paper; the default policy remembers all and notices the "
              "change by itself; {} seeds, eta 0.5. The paper states no number.",
              job.name, gpu.name, drift_at, job.workload.arms[before.optimum().arm].batch_size,
              job.workload.arms[after.optimum().arm].batch_size, window_of_zeus, seeds)},
          .figures = {std::move(sizes), std::move(energies), std::move(times), std::move(costs), std::move(table)}};
}

}  // namespace zeus::research
