// The figures of docs/policies.md on published traces, printed as tables.
//   policy_tables FOLDER replay        policy zeus on V100 against the published figures, 400 seeds
//   policy_tables FOLDER published     the default policy against zeus on the published targets, 200 seeds
//   policy_tables FOLDER others        the same on all other targets that the default batch size always reaches
//   policy_tables FOLDER drift         recurrences until five in a row are within 5 %, 100 random drifts
//   policy_tables FOLDER concurrency   regret with four in flight
// A number after the table's name is how many seeds (or drifts) to use instead; ETA after it restricts to one eta.

#include "optimize/batch_size/policy_factory.hpp"
#include "simulate/drift.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/published_jobs.hpp"
#include "simulate/workload.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using zeus::Error;
using namespace zeus::simulate;
namespace optimize = zeus::optimize;
namespace trace = zeus::trace;

constexpr std::array<std::string_view, 2> gpus = {"v100", "a40"};
constexpr std::string_view newest = optimize::best_policy;

std::string read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Traces {
  explicit Traces(const std::string& folder)
      : train{trace::parse_train_trace("train", read(folder + "/summary_train.csv"))} {
    for (const std::string_view gpu : gpus) {
      power.push_back(
          trace::parse_power_trace(std::string{gpu}, read(fmt::format("{}/summary_power_{}.csv", folder, gpu))));
    }
  }
  trace::TrainTrace train;
  std::vector<trace::PowerTrace> power;
};

std::uint64_t automatic(const Stage& stage) {
  return 2 * stage.workload().arms.size() * stage.workload().limits().size();
}

PolicyFactory factory(std::string_view policy) {
  return [policy](const optimize::JobSpec& spec) { return optimize::make_policy(policy, spec); };
}

JobSummary summarize(const Stage& stage, std::string_view policy, std::uint64_t seeds, int in_flight = 1) {
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const SimulationOptions options{.recurrences = automatic(stage), .in_flight = in_flight};
  JobSummary summary{stage, options.recurrences};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    summary.add(simulate_job(phases, options, factory(policy), seed));
  }
  return summary;
}

void replay(const Traces& traces, std::uint64_t seeds) {
  constexpr std::array<double, 6> published_regret = {8.95, 1.68, 1.69, 4.57, 9.76, 15.4};
  for (std::size_t i = 0; i < published_jobs().size(); ++i) {
    const Workload workload = select_published(traces.train, traces.power[0], published_jobs()[i]);
    const Stage stage{workload, 0.5};
    const JobSummary summary = summarize(stage, "zeus", seeds);
    const Configuration& best = stage.optimum();
    fmt::print(
        "{:<40} optimum {:5}, {} W; last five energy {:.3f} time {:.3f}; regret {:5.2f} (published {:5.2f}, {:+.1f} "
        "%)\n",
        workload.name, workload.arms[best.arm].batch_size, workload.arms[best.arm].limits[best.limit].limit.value(),
        summary.last_energy_ratio().mean(), summary.last_time_ratio().mean(), summary.regret().mean(),
        published_regret[i], 100.0 * (summary.regret().mean() / published_regret[i] - 1.0));
  }
}

struct Ratios {
  double sum = 0.0;
  double worst = 0.0;
  int above_one = 0;
  int count = 0;
  void add(double ratio) {
    sum += ratio;
    worst = std::max(worst, ratio);
    above_one += ratio > 1.0 ? 1 : 0;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
};

void compare(const Traces& traces, bool others, std::uint64_t seeds, const std::vector<double>& etas) {
  Ratios end;
  Ratios ten;
  Ratios last;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    for (const JobSelection& main_job : published_jobs()) {
      std::set<double> targets;
      for (const trace::TrainRun& run : traces.train.runs) {
        if (run.dataset == main_job.dataset && (run.target_metric != main_job.target_metric) == others) {
          targets.insert(run.target_metric);
        }
      }
      for (const double target : targets) {
        JobSelection job = main_job;
        job.target_metric = target;
        const Workload workload = select_published(traces.train, traces.power[gpu], job);
        if (!workload.arms[workload.arm_of(workload.default_batch_size)].always_reaches(workload.max_epochs)) {
          continue;
        }
        for (const double eta : etas) {
          const Stage stage{workload, eta};
          const JobSummary old = summarize(stage, "zeus", seeds);
          const JobSummary now = summarize(stage, newest, seeds);
          end.add(now.expected_regret().mean() / old.expected_regret().mean());
          ten.add(now.expected_regret_after(10) / old.expected_regret_after(10));
          last.add(now.last_expected_cost_ratio().mean() / old.last_expected_cost_ratio().mean());
          fmt::print("{:4} {:<14} {:<6} eta {:<3} zeus {:6.2f} {} {:6.2f}  ratio {:.2f}  last five {:.3f}\n", gpus[gpu],
                     job.dataset, target, eta, old.expected_regret().mean(), newest, now.expected_regret().mean(),
                     now.expected_regret().mean() / old.expected_regret().mean(),
                     now.last_expected_cost_ratio().mean() / old.last_expected_cost_ratio().mean());
        }
      }
    }
  }
  fmt::print(
      "{} jobs: ratio at the end {:.3f} (worst {:.2f}, {} above 1), after ten {:.3f}, last five {:.4f} (worst "
      "{:.3f})\n",
      end.count, end.mean(), end.worst, end.above_one, ten.mean(), last.mean(), last.worst);
}

// Recurrences after the drift until five in a row are within 5 % of the best; nothing when that never comes.
std::optional<std::uint64_t> recovery(const SimulatedJob& job, std::uint64_t from) {
  int in_a_row = 0;
  for (std::uint64_t recurrence = from; recurrence < job.recurrences.size(); ++recurrence) {
    const SimulatedRecurrence& paid = job.recurrences[recurrence];
    in_a_row = paid.last_expected <= paid.optimum * 1.05 ? in_a_row + 1 : 0;
    if (in_a_row == 5) {
      return recurrence + 1 - from;
    }
  }
  return std::nullopt;
}

void drift(const Traces& traces, std::uint64_t drifts) {
  constexpr std::uint64_t at = 60;
  constexpr std::uint64_t after = 140;
  struct Contender {
    std::string_view policy;
    std::size_t window;
    std::vector<std::uint64_t> recoveries;
    int never = 0;
  };
  std::vector<Contender> contenders = {{"zeus", 10, {}}, {newest, 0, {}}, {newest, 10, {}}};
  std::uint64_t made = 0;
  for (std::uint64_t seed = 1; made < drifts && seed < 100 * drifts; ++seed) {
    const std::size_t gpu = seed % gpus.size();
    const JobSelection& job = published_jobs()[seed / 2 % published_jobs().size()];
    const Workload before = select_published(traces.train, traces.power[gpu], job);
    const std::optional<Drift> found = random_drift(before, 0.5, at, seed);
    if (!found) {
      continue;
    }
    ++made;
    const Workload now = drifted(before, *found);
    const Stage first{before, 0.5};
    const Stage second{now, 0.5};
    const std::array<Phase, 2> phases = {Phase{0, &first, {}}, Phase{at, &second, {}}};
    for (Contender& contender : contenders) {
      const SimulationOptions options{.window = contender.window, .recurrences = at + after};
      try {
        const auto found_again = recovery(simulate_job(phases, options, factory(contender.policy), seed), at);
        contender.recoveries.push_back(found_again.value_or(after + 1));
        contender.never += found_again ? 0 : 1;
      } catch (const Error&) {
        contender.recoveries.push_back(after + 1);
        ++contender.never;
      }
    }
  }
  for (Contender& contender : contenders) {
    std::ranges::sort(contender.recoveries);
    fmt::print("{:<10} window {:2}: {} drifts, median {} recurrences, never back {}\n", contender.policy,
               contender.window, made, contender.recoveries[contender.recoveries.size() / 2], contender.never);
  }
}

void concurrency(const Traces& traces, std::uint64_t seeds) {
  double old_sum = 0.0;
  double new_sum = 0.0;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    for (const JobSelection& job : published_jobs()) {
      const Workload workload = select_published(traces.train, traces.power[gpu], job);
      const Stage stage{workload, 0.5};
      const double old = summarize(stage, "zeus", seeds, 4).expected_regret().mean();
      const double now = summarize(stage, newest, seeds, 4).expected_regret().mean();
      old_sum += old;
      new_sum += now;
      fmt::print("{:4} {:<14} four in flight: zeus {:6.2f} {} {:6.2f}\n", gpus[gpu], job.dataset, old, newest, now);
    }
  }
  fmt::print("total regret with four in flight: {:.1f} against {:.1f}, ratio {:.3f}\n", new_sum, old_sum,
             new_sum / old_sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
  if (arguments.size() < 3) {
    fmt::print(stderr, "policy_tables FOLDER replay|published|others|drift|concurrency [SEEDS] [ETA]\n");
    return 2;
  }
  try {
    const Traces traces{arguments[1]};
    const std::string_view table = arguments[2];
    const auto seeds = [&](std::uint64_t usual) { return arguments.size() > 3 ? std::stoull(arguments[3]) : usual; };
    const std::vector<double> etas =
        arguments.size() > 4 ? std::vector{std::stod(arguments[4])} : std::vector{0.0, 0.5, 1.0};
    if (table == "replay") {
      replay(traces, seeds(400));
    } else if (table == "published" || table == "others") {
      compare(traces, table == "others", seeds(200), etas);
    } else if (table == "drift") {
      drift(traces, seeds(100));
    } else if (table == "concurrency") {
      concurrency(traces, seeds(50));
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "policy_tables: {}\n", error.what());
    return 1;
  }
}
