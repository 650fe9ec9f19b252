// The figures of docs/policies.md on published traces, printed as tables.
//   policy_tables FOLDER replay        policy zeus on V100 against the published figures, 400 seeds
//   policy_tables FOLDER published     the default policy against zeus on the published targets, 200 seeds
//   policy_tables FOLDER others        the same on all other targets that the default batch size always reaches
//   policy_tables FOLDER heldout       the same on 200 jobs that no trace holds, 20 seeds each
//   policy_tables FOLDER drawn         the same on 400 more such jobs, 20 seeds each: half to choose by, half to judge
//   policy_tables FOLDER drift         recurrences until five in a row are within 5 %, 100 random drifts
//   policy_tables FOLDER concurrency   regret with four in flight, 50 seeds
//   policy_tables FOLDER sensitivity   what halving and doubling each constant of the default policy does, 10 seeds
// A number after the table's name replaces the number of seeds (or drifts). The argument after it depends on the table:
//   published, others   the only eta to use
//   heldout             the seed that draws the jobs
//   drawn               the only half to run: `choose` or `judge`
//   sensitivity         the only constant to change; factors to use instead may follow it
// The program uses all processors; start it under taskset to give it fewer.

#include "bench/policy_comparison.hpp"
#include "bench/policy_jobs.hpp"
#include "bench/policy_sensitivity.hpp"
#include "optimize/batch_size/lookahead_policy.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "research/published_jobs.hpp"
#include "simulate/job_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace zeus::bench;
using zeus::simulate::Configuration;
using zeus::simulate::JobSummary;
using zeus::simulate::Stage;
using zeus::simulate::Workload;
namespace optimize = zeus::optimize;
namespace research = zeus::research;
namespace simulate = zeus::simulate;

constexpr std::string_view newest = optimize::best_policy;

void replay(const PolicyTraces& traces, std::uint64_t seeds) {
  constexpr std::array<double, 6> published_regret = {8.95, 1.68, 1.69, 4.57, 9.76, 15.4};
  const Contender zeus = contender("zeus");
  for (std::size_t i = 0; i < research::published_jobs().size(); ++i) {
    const Workload workload = research::select_published(traces.train, traces.power[0], research::published_jobs()[i]);
    const Stage stage{workload, 0.5};
    const std::array<simulate::Phase, 1> phases = {{{.from_recurrence = 0, .stage = &stage, .device = {}}}};
    const simulate::SimulationOptions options{.recurrences = automatic_recurrences(workload)};
    JobSummary summary{stage, options.recurrences};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      summary.add(simulate_job(phases, options, zeus.factory, seed));
    }
    const Configuration& best = stage.optimum();
    fmt::print(
        "{:<40} optimum {:5}, {} W; last five energy {:.3f} time {:.3f}; regret {:5.2f} (published {:5.2f}, {:+.1f} "
        "%)\n",
        workload.name, workload.arms[best.arm].batch_size, workload.arms[best.arm].limits[best.limit].limit.value(),
        summary.last_energy_ratio().mean(), summary.last_time_ratio().mean(), summary.regret().mean(),
        published_regret[i], 100.0 * (summary.regret().mean() / published_regret[i] - 1.0));
  }
}

void compare(const std::vector<PolicyJob>& jobs, std::uint64_t seeds) {
  const Contender zeus = contender("zeus");
  const Contender ours = contender(newest);
  std::vector<Outcome> theirs(jobs.size());
  std::vector<Outcome> outcomes(jobs.size());
  Ratios ratios;
  for_each_index(
      jobs.size(),
      [&](std::size_t i) {
        theirs[i] = outcome_of(jobs[i], zeus, seeds);
        outcomes[i] = outcome_of(jobs[i], ours, seeds);
      },
      [&](std::size_t i) {
        ratios.add(outcomes[i], theirs[i]);
        fmt::print("{:<60} eta {:<4} zeus {:6.2f} {} {:6.2f}  ratio {:.2f}  last five {:.3f}\n", jobs[i].name,
                   jobs[i].eta, theirs[i].regret, ours.name, outcomes[i].regret, outcomes[i].regret / theirs[i].regret,
                   outcomes[i].last_five / theirs[i].last_five);
        std::fflush(stdout);
      });
  fmt::print("{}\n", ratios.summary());
}

// One half of the jobs is for choosing a change of the policy, the other half for judging it. Neither contains jobs of
// `heldout`, because constants were chosen with those in view.
void drawn(const PolicyTraces& traces, std::uint64_t seeds, std::string_view half) {
  constexpr std::size_t jobs_of_half = 200;
  constexpr std::uint64_t drawn_by = 20'231'120;
  const std::vector<PolicyJob> jobs = held_out_jobs(traces, 2 * jobs_of_half, drawn_by);
  const auto middle = jobs.begin() + jobs_of_half;
  if (half != "judge") {
    fmt::print("to choose by\n");
    compare({jobs.begin(), middle}, seeds);
  }
  if (half != "choose") {
    fmt::print("to judge by\n");
    compare({middle, jobs.end()}, seeds);
  }
}

struct Recoveries {
  std::uint64_t median = 0;
  std::vector<std::string> never;
};

Recoveries recoveries_of(const std::vector<DriftingJob>& jobs, const Contender& contender) {
  std::vector<Recovery> found(jobs.size());
  for_each_index(jobs.size(), [&](std::size_t i) { found[i] = recovery_of(jobs[i], contender); });
  Recoveries result;
  std::vector<std::uint64_t> times;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    times.push_back(found[i].recurrences.value_or(1'000'000));
    if (!found[i].recurrences) {
      result.never.push_back(fmt::format("{}: settled at {:.3f} of the best", jobs[i].name, found[i].settled));
    }
  }
  std::ranges::sort(times);
  result.median = times.empty() ? 0 : times[times.size() / 2];
  return result;
}

void drift(const PolicyTraces& traces, std::uint64_t drifts) {
  const std::vector<DriftingJob> jobs = drifting_jobs(traces, drifts);
  for (const Contender& one : {contender("zeus", 10), contender(newest), contender(newest, 10)}) {
    const Recoveries recoveries = recoveries_of(jobs, one);
    fmt::print("{:<10} window {:2}: {} drifts, median {} recurrences, never back {}\n", one.name, one.window,
               jobs.size(), recoveries.median, recoveries.never.size());
    if (one.name == newest) {
      for (const std::string& name : recoveries.never) {
        fmt::print("  never: {}\n", name);
      }
    }
  }
}

void concurrency(const PolicyTraces& traces, std::uint64_t seeds) {
  const std::vector<PolicyJob> jobs = trace_jobs(traces, Targets::published, std::array{0.5});
  std::vector<double> old_regret(jobs.size());
  std::vector<double> new_regret(jobs.size());
  double old_sum = 0.0;
  double new_sum = 0.0;
  for_each_index(
      jobs.size(),
      [&](std::size_t i) {
        old_regret[i] = outcome_of(jobs[i], contender("zeus"), seeds, 4).regret;
        new_regret[i] = outcome_of(jobs[i], contender(newest), seeds, 4).regret;
      },
      [&](std::size_t i) {
        old_sum += old_regret[i];
        new_sum += new_regret[i];
        fmt::print("{} four in flight: zeus {:6.2f} {} {:6.2f}\n", jobs[i].name, old_regret[i], newest, new_regret[i]);
      });
  fmt::print("total regret with four in flight: {:.1f} against {:.1f}, ratio {:.3f}\n", new_sum, old_sum,
             new_sum / old_sum);
}

void sensitivity(const PolicyTraces& traces, std::uint64_t seeds, std::string_view only,
                 const std::vector<double>& factors) {
  struct Set {
    std::vector<PolicyJob> jobs;
    std::vector<Outcome> zeus;
  };
  std::array<Set, 2> sets = {Set{trace_jobs(traces, Targets::published, std::array{0.0, 0.5, 1.0}), {}},
                             Set{held_out_jobs(traces, 50, 1), {}}};
  for (Set& set : sets) {
    set.zeus.resize(set.jobs.size());
    for_each_index(set.jobs.size(),
                   [&](std::size_t i) { set.zeus[i] = outcome_of(set.jobs[i], contender("zeus"), seeds); });
  }
  const std::vector<DriftingJob> drifting = drifting_jobs(traces, 100);
  const auto measure = [&](std::string_view what, const optimize::LookaheadTuning& tuning) {
    const Contender tuned{.name = std::string{what}, .factory = [&tuning](const optimize::JobSpec& spec) {
                            return std::make_unique<optimize::LookaheadPolicy>(spec, tuning);
                          }};
    const Recoveries recoveries = recoveries_of(drifting, tuned);
    fmt::print("{:<28} drift: median {:3}, never {:2}", what, recoveries.median, recoveries.never.size());
    for (const Set& set : sets) {
      std::vector<Outcome> outcomes(set.jobs.size());
      for_each_index(set.jobs.size(), [&](std::size_t i) { outcomes[i] = outcome_of(set.jobs[i], tuned, seeds); });
      Ratios ratios;
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        ratios.add(outcomes[i], set.zeus[i]);
      }
      fmt::print("; {}", ratios.summary());
    }
    fmt::print("\n");
    std::fflush(stdout);
  };
  measure("as it is", {});
  for (const TunedConstant& constant : tuned_constants()) {
    if (!only.empty() && constant.name != only) {
      continue;
    }
    for (const double factor : factors) {
      optimize::LookaheadTuning tuning;
      constant.multiply(tuning, factor);
      measure(fmt::format("{} x {}", constant.name, factor), tuning);
    }
  }
}

int print_table(std::span<char*> arguments) {
  const PolicyTraces traces{arguments[1]};
  const std::string_view table = arguments[2];
  const auto seeds = [&](std::uint64_t usual) { return arguments.size() > 3 ? std::stoull(arguments[3]) : usual; };
  const bool of_traces = table == "published" || table == "others";
  const std::vector<double> etas =
      of_traces && arguments.size() > 4 ? std::vector{std::stod(arguments[4])} : std::vector{0.0, 0.5, 1.0};
  if (table == "replay") {
    replay(traces, seeds(400));
  } else if (table == "published") {
    compare(trace_jobs(traces, Targets::published, etas), seeds(200));
  } else if (table == "others") {
    compare(trace_jobs(traces, Targets::others, etas), seeds(200));
  } else if (table == "heldout") {
    compare(held_out_jobs(traces, 200, arguments.size() > 4 ? std::stoull(arguments[4]) : 1), seeds(20));
  } else if (table == "drawn") {
    drawn(traces, seeds(20), arguments.size() > 4 ? arguments[4] : "");
  } else if (table == "drift") {
    drift(traces, seeds(100));
  } else if (table == "concurrency") {
    concurrency(traces, seeds(50));
  } else if (table == "sensitivity") {
    std::vector<double> factors;
    for (std::size_t i = 5; i < arguments.size(); ++i) {
      factors.push_back(std::stod(arguments[i]));
    }
    sensitivity(traces, seeds(10), arguments.size() > 4 ? arguments[4] : "",
                factors.empty() ? std::vector{0.5, 2.0} : factors);
  } else {
    fmt::print(stderr, "policy_tables: there is no table '{}'\n", table);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
  if (arguments.size() < 3) {
    fmt::print(stderr,
               "policy_tables FOLDER replay|published|others|heldout|drawn|drift|concurrency|sensitivity [SEEDS] "
               "[ETA|SEED|HALF|CONSTANT]\n");
    return 2;
  }
  try {
    return print_table(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "policy_tables: {}\n", error.what());
    return 1;
  }
}
