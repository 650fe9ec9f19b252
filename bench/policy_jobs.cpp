#include "bench/policy_jobs.hpp"

#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "research/published_jobs.hpp"
#include "simulate/drift.hpp"
#include "simulate/model_workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace zeus::bench {

namespace {

using simulate::JobSelection;
using simulate::Workload;
using simulate::WorkloadArm;

constexpr std::array<std::string_view, 2> traced_gpus = {"v100", "a40"};

std::string read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path), "give the folder of the traces"};
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<double> targets_of(const trace::TrainTrace& train, const JobSelection& job) {
  std::set<double> targets;
  for (const trace::TrainRun& run : train.runs) {
    if (run.dataset == job.dataset) {
      targets.insert(run.target_metric);
    }
  }
  return {targets.begin(), targets.end()};
}

bool default_always_reaches(const Workload& workload) {
  return workload.arms[workload.arm_of(workload.default_batch_size)].always_reaches(workload.max_epochs);
}

double octaves_of(const Workload& workload, const WorkloadArm& arm) {
  return portable::log2(static_cast<double>(arm.batch_size) / workload.default_batch_size);
}

void sort_runs(WorkloadArm& arm) {
  std::ranges::sort(arm.runs, {}, [](const std::optional<int>& run) {
    return std::tuple{!run.has_value(), run.value_or(0)};
  });
}

void scatter(Workload& workload, double deviation, Random& draw) {
  for (WorkloadArm& arm : workload.arms) {
    for (std::optional<int>& run : arm.runs) {
      const double factor = portable::exp(draw.normal(0.0, deviation));
      if (run) {
        run = std::max(1, static_cast<int>(std::round(*run * factor)));
      }
    }
    sort_runs(arm);
  }
}

void move_to_another_gpu(Workload& workload, Random& draw) {
  const double speed = portable::exp(draw.uniform(-1.5, 1.5));
  const double slope = draw.uniform(-0.2, 0.2);
  const double size = draw.uniform(0.5, 2.0);
  const double throttling = draw.uniform(0.0, 1.0);
  const double saving = draw.uniform(0.0, 0.3);
  const Watts most = workload.max_limit;
  for (WorkloadArm& arm : workload.arms) {
    const double pace = speed * portable::exp(slope * octaves_of(workload, arm));
    for (records::LimitProfile& profile : arm.limits) {
      const double lack = 1.0 - profile.limit / most;
      profile.epoch_time *= pace * (1.0 + throttling * lack * lack);
      profile.average_power *= size * (1.0 - saving * lack);
      profile.limit *= size;
    }
  }
  workload.max_limit *= size;
  workload.max_power *= size;
}

std::optional<int> between(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional{static_cast<int>(std::round(std::sqrt(static_cast<double>(*a) * *b)))} : std::nullopt;
}

// A batch size between two neighbours: the geometric mean of their costs.
WorkloadArm between(const WorkloadArm& a, const WorkloadArm& b) {
  WorkloadArm middle{
      .batch_size = static_cast<int>(std::round(std::sqrt(static_cast<double>(a.batch_size) * b.batch_size))),
      .limits = {},
      .runs = {}};
  for (const records::LimitProfile& profile : a.limits) {
    const auto other = std::ranges::find(b.limits, profile.limit, &records::LimitProfile::limit);
    if (other != b.limits.end()) {
      middle.limits.push_back(
          {.limit = profile.limit,
           .epoch_time = Seconds{std::sqrt(profile.epoch_time.value() * other->epoch_time.value())},
           .average_power = Watts{std::sqrt(profile.average_power.value() * other->average_power.value())}});
    }
  }
  for (std::size_t run = 0; run < std::min(a.runs.size(), b.runs.size()); ++run) {
    middle.runs.push_back(between(a.runs[run], b.runs[run]));
  }
  return middle;
}

void change_set(Workload& workload, Random& draw) {
  std::vector<WorkloadArm>& arms = workload.arms;
  const std::size_t home = workload.arm_of(workload.default_batch_size);
  std::vector<WorkloadArm> kept;
  switch (draw.below(4)) {
    case 0:  // every second
      for (std::size_t arm = home % 2; arm < arms.size(); arm += 2) {
        kept.push_back(arms[arm]);
      }
      break;
    case 1: {  // a few neighbours
      const std::size_t few = 2 + draw.below(3);
      const std::size_t most = arms.size() > few ? arms.size() - few : 0;
      const std::size_t first = std::min(most, home - std::min(home, draw.below(few)));
      for (std::size_t arm = first; arm < std::min(first + few, arms.size()); ++arm) {
        kept.push_back(arms[arm]);
      }
      break;
    }
    case 2:  // one between each pair
      for (std::size_t arm = 0; arm < arms.size(); ++arm) {
        kept.push_back(arms[arm]);
        if (arm + 1 < arms.size() && arms[arm + 1].batch_size > arms[arm].batch_size + 1) {
          kept.push_back(between(arms[arm], arms[arm + 1]));
        }
      }
      break;
    default:
      return;
  }
  arms = std::move(kept);
}

void change_default(Workload& workload, Random& draw) {
  std::vector<int> possible;
  for (const WorkloadArm& arm : workload.arms) {
    if (arm.always_reaches(workload.max_epochs) &&
        workload.limit_of(workload.arm_of(arm.batch_size), workload.max_limit) < arm.limits.size()) {
      possible.push_back(arm.batch_size);
    }
  }
  if (!possible.empty()) {
    workload.default_batch_size = possible[draw.below(possible.size())];
  }
}

double any_eta(Random& draw) {
  constexpr std::array<double, 5> etas = {0.0, 0.25, 0.5, 0.75, 1.0};
  return etas[draw.below(etas.size())];
}

PolicyJob model_job(Random& draw) {
  constexpr std::array<std::string_view, 5> gpus = {"P100", "RTX6000", "A100", "H100", "H200"};
  const physics::GpuModel& gpu = physics::preset(gpus[draw.below(gpus.size())]);
  const physics::Workload& model = physics::workloads()[draw.below(physics::workloads().size())];
  PolicyJob job{.name = fmt::format("model {} {}", gpu.name(), model.definition().dataset),
                .workload = simulate::model_workload(model, gpu, draw.below(1'000'000)),
                .eta = 0.0};
  change_set(job.workload, draw);
  job.eta = any_eta(draw);
  return job;
}

PolicyJob changed_job(const PolicyTraces& traces, Random& draw) {
  const std::size_t gpu = draw.below(traces.power.size());
  JobSelection selection = research::published_jobs()[draw.below(research::published_jobs().size())];
  const std::vector<double> targets = targets_of(traces.train, selection);
  selection.target_metric = targets[draw.below(targets.size())];
  PolicyJob job{.name = fmt::format("like {} {} {}", traced_gpus[gpu], selection.dataset, selection.target_metric),
                .workload = research::select_published(traces.train, traces.power[gpu], selection),
                .eta = 0.0};
  constexpr std::array<double, 3> allowances = {0.7, 1.0, 2.0};
  const double tilt = draw.normal(0.0, 0.3);
  const double curve = draw.uniform(-0.03, 0.1);
  job.workload = simulate::drifted(job.workload, {.from_recurrence = 0, .tilt = tilt, .curve = curve});
  constexpr std::array<double, 4> deviations = {0.0, 0.05, 0.1, 0.25};
  scatter(job.workload, deviations[draw.below(deviations.size())], draw);
  move_to_another_gpu(job.workload, draw);
  change_set(job.workload, draw);
  job.workload.max_epochs =
      std::max(1, static_cast<int>(job.workload.max_epochs * allowances[draw.below(allowances.size())]));
  change_default(job.workload, draw);
  job.eta = any_eta(draw);
  return job;
}

// At least two batch sizes to choose among, and a default that works.
bool is_a_job(const Workload& workload) {
  const std::size_t home = workload.arm_of(workload.default_batch_size);
  return workload.arms.size() > 1 && home < workload.arms.size() &&
         workload.arms[home].batch_size == workload.default_batch_size && default_always_reaches(workload) &&
         workload.limit_of(home, workload.max_limit) < workload.arms[home].limits.size();
}

}  // namespace

PolicyTraces::PolicyTraces(const std::string& folder)
    : train{trace::parse_train_trace("train", read(folder + "/summary_train.csv"))} {
  for (const std::string_view gpu : traced_gpus) {
    power.push_back(
        trace::parse_power_trace(std::string{gpu}, read(fmt::format("{}/summary_power_{}.csv", folder, gpu))));
  }
}

std::vector<PolicyJob> trace_jobs(const PolicyTraces& traces, Targets targets, std::span<const double> etas) {
  std::vector<PolicyJob> jobs;
  for (std::size_t gpu = 0; gpu < traces.power.size(); ++gpu) {
    for (const JobSelection& published : research::published_jobs()) {
      for (const double target : targets_of(traces.train, published)) {
        if ((target == published.target_metric) != (targets == Targets::published)) {
          continue;
        }
        JobSelection selection = published;
        selection.target_metric = target;
        const Workload workload = research::select_published(traces.train, traces.power[gpu], selection);
        for (const double eta : etas) {
          if (default_always_reaches(workload)) {
            jobs.push_back({.name = fmt::format("{:4} {:<14} {:<6}", traced_gpus[gpu], published.dataset, target),
                            .workload = workload,
                            .eta = eta});
          }
        }
      }
    }
  }
  return jobs;
}

std::vector<PolicyJob> held_out_jobs(const PolicyTraces& traces, std::size_t count, std::uint64_t seed) {
  std::vector<PolicyJob> jobs;
  const std::uint64_t most_draws = 100 * count;
  for (std::uint64_t number = 0; jobs.size() < count && number < most_draws; ++number) {
    Random draw{seed, number};
    PolicyJob job = draw.below(4) == 0 ? model_job(draw) : changed_job(traces, draw);
    if (is_a_job(job.workload)) {
      job.name += fmt::format(" ({} sizes, default {})", job.workload.arms.size(), job.workload.default_batch_size);
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace zeus::bench
