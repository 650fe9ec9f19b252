#include "research/paper_capriccio.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "research/paper_trials.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/stage.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::research {

namespace {

using records::ChartSeries;
using records::SeriesStyle;
using records::XyChart;

constexpr std::size_t capriccio_window = 10;
constexpr std::size_t settled_after = 10;  // recurrences
constexpr std::size_t notice_within = 10;
constexpr double matters = 1.1;  // the old best batch size costs so many times the new one

struct SlicePolicy {
  std::string_view policy;
  std::string label;
  std::size_t window = 0;
};

std::vector<SlicePolicy> slice_policies() {
  return {{.policy = "default", .label = "Default"},
          {.policy = "zeus", .label = fmt::format("zeus, window {}", capriccio_window), .window = capriccio_window},
          {.policy = optimize::best_policy, .label = std::string{optimize::best_policy}}};
}

// What became of a seed: of each recurrence its sums, and the batch size that reached the target.
struct SliceRun {
  std::vector<double> energy;
  std::vector<double> time;
  std::vector<double> cost;
  std::vector<int> chosen;
};

SliceRun run_slices(std::span<const simulate::Phase> phases, const SlicePolicy& policy, std::size_t recurrences,
                    std::uint64_t seed) {
  const simulate::PolicyFactory factory = [&](const optimize::JobSpec& spec) {
    return optimize::make_policy(policy.policy, spec);
  };
  const simulate::SimulatedJob job =
      simulate::simulate_job(phases, {.beta = 2.0, .window = policy.window, .recurrences = recurrences}, factory, seed);
  SliceRun run{.energy = std::vector<double>(recurrences),
               .time = std::vector<double>(recurrences),
               .cost = std::vector<double>(recurrences),
               .chosen = std::vector<int>(recurrences)};
  const simulate::Workload& workload = phases.front().stage->workload();
  for (const simulate::SimulatedTry& attempt : job.tries) {
    run.energy[attempt.recurrence] += attempt.result.energy.value();
    run.time[attempt.recurrence] += attempt.result.time.value();
    if (reached(attempt.result.outcome)) {
      run.chosen[attempt.recurrence] = workload.arms[attempt.result.arm].batch_size;
    }
  }
  for (std::size_t i = 0; i < recurrences; ++i) {
    run.cost[i] = job.recurrences[i].cost.value();
  }
  return run;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double cheapest_at(const simulate::Stage& stage, std::size_t arm) {
  double least = stage.expected_cost(arm, 0).value();
  for (std::size_t limit = 1; limit < stage.workload().arms[arm].limits.size(); ++limit) {
    least = std::min(least, stage.expected_cost(arm, limit).value());
  }
  return least;
}

// The slices for which the best batch size of the first one costs a tenth more than the best. There are few runs of
// each, so that one after the first of them may not be among them.
std::vector<std::size_t> slices_that_cost_more(const std::vector<simulate::Stage>& stages) {
  const std::size_t old_best = stages.front().optimum().arm;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const simulate::WorkloadArm& arm = stages[i].workload().arms[old_best];
    if (!arm.ever_reaches(stages[i].workload().max_epochs) ||
        cheapest_at(stages[i], old_best) >= matters * stages[i].optimum().cost.value()) {
      found.push_back(i);
    }
  }
  return found;
}

// The configuration that would have cost least, had each slice been trained with it: known only afterwards.
double best_fixed(const std::vector<simulate::Stage>& stages) {
  std::optional<double> least;
  for (std::size_t arm = 0; arm < stages.front().workload().arms.size(); ++arm) {
    const bool always = std::ranges::all_of(stages, [&](const simulate::Stage& stage) {
      return stage.workload().arms[arm].always_reaches(stage.workload().max_epochs);
    });
    for (std::size_t limit = 0; always && limit < stages.front().workload().arms[arm].limits.size(); ++limit) {
      double sum = 0.0;
      for (const simulate::Stage& stage : stages) {
        sum += stage.expected_cost(arm, limit).value();
      }
      least = std::min(least.value_or(sum), sum);
    }
  }
  return least.value_or(0.0);
}

// Recurrences from the onset on until another batch size than the last one before it is used; 0 if that does not
// happen.
double until_another(const std::vector<int>& chosen, std::size_t onset) {
  for (std::size_t i = onset; onset > 0 && i < chosen.size(); ++i) {
    if (chosen[i] != chosen[onset - 1]) {
      return static_cast<double>(i + 1 - onset);
    }
  }
  return 0.0;
}

double changes_between(const std::vector<int>& chosen, std::size_t from, std::size_t to) {
  double changes = 0.0;
  for (std::size_t i = from; i < to; ++i) {
    changes += chosen[i] == chosen[i - 1] ? 0.0 : 1.0;
  }
  return changes;
}

// The results of all seeds under a policy.
struct SliceTrials {
  std::vector<simulate::Spread> energy;  // by recurrence
  std::vector<simulate::Spread> time;
  std::vector<int> chosen;          // by the first seed
  std::vector<double> costs;        // of all slices, by seed
  std::vector<double> until;        // another batch size after the onset
  std::vector<double> usual_until;  // the same on the first slice alone: some policies change without any drift
  // Changes of batch size once settled, before the onset and until the end, and as many recurrences of the first slice
  // alone.
  std::vector<double> changes;
  std::vector<double> usual_changes;
  std::vector<double> all_changes;
  std::vector<double> usual_all_changes;
};

SliceTrials try_slices(const std::vector<simulate::Stage>& stages, const SlicePolicy& policy, std::size_t onset,
                       std::uint64_t seeds) {
  std::vector<simulate::Phase> phases;
  for (const simulate::Stage& stage : stages) {
    phases.push_back({.from_recurrence = phases.size(), .stage = &stage, .device = {}});
  }
  SliceTrials trials{.energy = std::vector<simulate::Spread>(stages.size()),
                     .time = std::vector<simulate::Spread>(stages.size()),
                     .chosen = {},
                     .costs = {},
                     .until = {},
                     .usual_until = {},
                     .changes = {},
                     .usual_changes = {},
                     .all_changes = {},
                     .usual_all_changes = {}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SliceRun run = run_slices(phases, policy, stages.size(), seed);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      trials.energy[i].add(run.energy[i] / 1000.0);
      trials.time[i].add(run.time[i] / 60.0);
    }
    if (seed == 1) {
      trials.chosen = run.chosen;
    }
    trials.costs.push_back(sum_of(run.cost));
    trials.until.push_back(until_another(run.chosen, onset));
    const SliceRun usual = run_slices(std::span{phases}.first(1), policy, stages.size(), seed);
    trials.usual_until.push_back(until_another(usual.chosen, onset));
    trials.changes.push_back(changes_between(run.chosen, settled_after, onset));
    trials.usual_changes.push_back(changes_between(usual.chosen, settled_after, onset));
    trials.all_changes.push_back(changes_between(run.chosen, settled_after, stages.size()));
    trials.usual_all_changes.push_back(changes_between(usual.chosen, settled_after, stages.size()));
  }
  return trials;
}

XyChart chart_over_slices(std::string title, std::string label) {
  return {.title = std::move(title),
          .x = {.label = "slice", .from_zero = true},
          .y = {.label = std::move(label), .from_zero = true},
          .series = {},
          .reference = std::nullopt};
}

ChartSeries series_of(const std::string& name, const std::vector<simulate::Spread>& spreads) {
  ChartSeries series{.name = name, .style = SeriesStyle::line, .points = {}};
  for (const simulate::Spread& one : spreads) {
    series.points.push_back({.x = static_cast<double>(series.points.size() + 1),
                             .y = one.mean(),
                             .low = one.mean() - one.deviation(),
                             .high = one.mean() + one.deviation(),
                             .label = {}});
  }
  return series;
}

const PaperWorkload& job_of_tweets(const PaperGpu& gpu) {
  const auto job = std::ranges::find(gpu.workloads, "BERT (SA)", &PaperWorkload::name);
  if (job == gpu.workloads.end()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the traces of {} have no BERT (SA), whose epochs the slices would cost", gpu.name),
                "give traces that have it, or leave out --capriccio"};
  }
  return *job;
}

}  // namespace

records::FindingsSection capriccio_section(const PaperGpu& gpu, const SliceTrace& trace, std::uint64_t seeds) {
  const std::vector<simulate::Workload> workloads = slice_workloads(trace, job_of_tweets(gpu).workload);
  std::vector<simulate::Stage> stages;
  for (const simulate::Workload& workload : workloads) {
    stages.emplace_back(workload, paper_eta);
  }
  const std::vector<std::size_t> dearer = slices_that_cost_more(stages);
  const bool drifts = !dearer.empty();
  const std::size_t onset = drifts ? dearer.front() : stages.size();
  const double hindsight = best_fixed(stages);
  XyChart sizes = chart_over_slices("Batch size that reached, first seed", "batch size");
  sizes.y = {.label = "batch size", .logarithmic = true};
  XyChart energies = chart_over_slices("Energy of each slice", "energy (kJ)");
  XyChart times = chart_over_slices("Time of each slice", "training time (min)");
  records::FindingsTable table{
      .title = "All slices",
      .columns = {"policy", "cost / Default's", "seeds below Default's", "cost / the best fixed choice's",
                  "another batch size within 10 recurrences of the drift", "the same on the first slice alone",
                  "changes of batch size before the drift", "the same on the first slice alone"},
      .rows = {}};
  records::FindingsSection section{
      .title = "Slices of tweets (section 6.4, figure 10)",
      .paragraphs = {fmt::format(
          "A small classifier, really trained on each of {} slices at each batch size, in the place of BERT: the "
          "epochs to "
          "the target are those of {}, and an epoch takes the time and the power of one of BERT (SA) on {}. A "
          "recurrence a "
          "slice, eta 0.5, {} seeds. The best fixed choice is the batch size and limit that would have cost least over "
          "all "
          "slices, which is known only afterwards. {} The paper shows no number.",
          stages.size(), trace.name, gpu.name, seeds,
          drifts
              ? fmt::format(
                    "The drift sets in with slice {}, the first for which the best batch size of the first slice, {}, "
                    "costs at least a tenth more than the best; it does for {} of the {} slices from there on.",
                    onset + 1, workloads.front().arms[stages.front().optimum().arm].batch_size, dearer.size(),
                    stages.size() - onset)
              : "No slice makes another batch size best by a tenth.")},
      .figures = {}};
  std::vector<double> of_default;
  for (const SlicePolicy& policy : slice_policies()) {
    const SliceTrials trials = try_slices(stages, policy, onset, seeds);
    if (policy.policy == "default") {
      of_default = trials.costs;
    }
    energies.series.push_back(series_of(policy.label, trials.energy));
    times.series.push_back(series_of(policy.label, trials.time));
    ChartSeries chosen{.name = policy.label, .style = SeriesStyle::line_and_points, .points = {}};
    for (const int size : trials.chosen) {
      chosen.points.push_back({.x = static_cast<double>(chosen.points.size() + 1), .y = 1.0 * size, .label = {}});
    }
    sizes.series.push_back(std::move(chosen));
    std::size_t below = 0;
    for (std::size_t seed = 0; seed < trials.costs.size(); ++seed) {
      below += trials.costs[seed] < of_default[seed] ? 1 : 0;
    }
    const auto noticed = [&](const std::vector<double>& until) {
      const auto seeds_that_did = std::ranges::count_if(
          until, [](double recurrences) { return recurrences > 0.0 && recurrences <= double{notice_within}; });
      return drifts ? fmt::format("{} of {}", seeds_that_did, seeds) : "no drift";
    };
    // Until then no changes are counted: a policy is still looking for the best batch size.
    const bool settled = onset > settled_after;
    const auto mean_of = [&](const std::vector<double>& changes) {
      return settled ? fmt::format("{:.2f}", sum_of(changes) / static_cast<double>(seeds)) : std::string{};
    };
    const double total = sum_of(trials.costs);
    table.rows.push_back(
        {policy.label, fmt::format("{:.3f}", total / sum_of(of_default)), fmt::format("{} of {}", below, seeds),
         hindsight > 0.0 ? fmt::format("{:.3f}", total / static_cast<double>(seeds) / hindsight)
                         : "none reaches always",
         noticed(trials.until), noticed(trials.usual_until), mean_of(trials.changes), mean_of(trials.usual_changes)});
    records::FindingsSamples costs{.key = fmt::format("slices_cost_of_{}", policy.policy), .groups = {}, .values = {}};
    costs.add("all slices", trials.costs);
    section.figures.emplace_back(std::move(costs));
    records::FindingsSamples until{
        .key = fmt::format("slices_until_another_of_{}", policy.policy), .groups = {}, .values = {}};
    until.add("recurrences", trials.until);
    until.add("the same on the first slice alone", trials.usual_until);
    section.figures.emplace_back(std::move(until));
    records::FindingsSamples changes{
        .key = fmt::format("slices_changes_of_{}", policy.policy), .groups = {}, .values = {}};
    changes.add("before the drift, after the 10th recurrence", trials.changes);
    changes.add("the same on the first slice alone", trials.usual_changes);
    changes.add("after the 10th recurrence", trials.all_changes);
    changes.add("all of it on the first slice alone", trials.usual_all_changes);
    section.figures.emplace_back(std::move(changes));
  }
  section.figures.insert(section.figures.begin(),
                         {std::move(energies), std::move(times), std::move(sizes), std::move(table)});
  return section;
}

}  // namespace zeus::research
