#include "research/cluster_simulation.hpp"

#include "base/portable_math.hpp"
#include "optimize/recurrence/recurring_job.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace zeus::research {

namespace {

struct Running {
  Seconds end;
  std::uint64_t try_number = 0;
  std::size_t job = 0;
  simulate::TryResult result;
};

struct EndsLater {
  bool operator()(const Running& a, const Running& b) const {
    return a.end > b.end || (a.end == b.end && a.try_number > b.try_number);
  }
};

class GroupSimulation {
 public:
  GroupSimulation(const simulate::Stage& stage, std::span<const ClusterJob> jobs, double beta,
                  const simulate::PolicyFactory& policy, std::uint64_t seed, ClusterTotal& total)
      : stage_{stage},
        jobs_{jobs},
        seed_{seed},
        total_{total},
        spec_{simulate::job_spec(stage, {.beta = beta, .recurrences = jobs.size()}, seed)},
        job_{spec_, policy(spec_)},
        tried_(spec_.arms(), 0) {}

  void run() {
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      finish_until(jobs_[job].start);
      const double ratio = jobs_[job].runtime_ratio;
      total_.default_energy += stage_.default_configuration().energy * ratio;
      total_.default_time += stage_.default_configuration().time * ratio;
      submit(job, jobs_[job].start);
    }
    while (!running_.empty()) {
      finish_first();
    }
    ++total_.groups;
    total_.jobs += jobs_.size();
  }

 private:
  void finish_until(Seconds now) {
    while (!running_.empty() && running_.top().end <= now) {
      finish_first();
    }
  }

  void submit(std::size_t job, Seconds now) {
    while (true) {
      optimize::Action action = job_.next(job, submissions_);
      const auto* const profile = std::get_if<records::ProfileAsked>(&action);
      simulate::ProfilingResult measured = profile == nullptr ? simulate::ProfilingResult{} : stage_.profile(*profile);
      if (profile != nullptr &&
          !simulate::anything_new(job_.profiles(), stage_.workload().arm_of(profile->batch_size), measured.limits)) {
        action = simulate::unmeasured(*profile, spec_, stage_, job_.profiles());
      } else if (profile != nullptr) {
        total_.energy += measured.energy * jobs_[job].runtime_ratio;
        total_.time += measured.time * jobs_[job].runtime_ratio;
        job_.apply(records::LimitsProfiled{.recurrence = job,
                                           .batch_size = profile->batch_size,
                                           .limits = std::move(measured.limits),
                                           .energy = measured.energy,
                                           .time = measured.time});
        continue;
      }
      const auto* run = std::get_if<records::TryPlan>(&action);
      if (run == nullptr) {
        ++total_.given_up;
        return;
      }
      const std::size_t arm = stage_.workload().arm_of(run->batch_size);
      running_.push({.end = now + (jobs_[job].end - jobs_[job].start),
                     .try_number = submissions_,
                     .job = job,
                     .result = stage_.run(*run, seed_, tried_[arm]++)});
      job_.apply(records::TrySubmitted{.try_number = submissions_++, .recurrence = job, .plan = *run});
      return;
    }
  }

  void finish_first() {
    const Running ended = running_.top();
    running_.pop();
    const simulate::TryResult& result = ended.result;
    const int batch_size = spec_.batch_sizes[result.arm];
    ++total_.tries;
    total_.energy += result.energy * jobs_[ended.job].runtime_ratio;
    total_.time += result.time * jobs_[ended.job].runtime_ratio;
    if (result.profiled && result.epochs > 0) {
      job_.apply(records::LimitsProfiled{.recurrence = ended.job,
                                         .batch_size = batch_size,
                                         .limits = stage_.limits(result.arm),
                                         .energy = {},
                                         .time = {}});
    }
    job_.apply(records::TryEnded{.try_number = ended.try_number,
                                 .recurrence = ended.job,
                                 .batch_size = batch_size,
                                 .outcome = result.outcome,
                                 .epochs = result.epochs,
                                 .energy = result.energy,
                                 .time = result.time});
    if (!reached(result.outcome)) {
      submit(ended.job, ended.end);
    }
  }

  const simulate::Stage& stage_;
  std::span<const ClusterJob> jobs_;
  std::uint64_t seed_;
  ClusterTotal& total_;
  optimize::JobSpec spec_;
  optimize::RecurringJob job_;
  std::vector<std::uint64_t> tried_;
  std::priority_queue<Running, std::vector<Running>, EndsLater> running_;
  std::uint64_t submissions_ = 0;
};

Seconds mean_time(const ClusterGroup& group) {
  Seconds sum;
  for (const ClusterJob& job : group.jobs) {
    sum += job.end - job.start;
  }
  return sum / static_cast<double>(group.jobs.size());
}

}  // namespace

void simulate_group(const simulate::Stage& stage, std::span<const ClusterJob> jobs, double beta,
                    const simulate::PolicyFactory& policy, std::uint64_t seed, ClusterTotal& total) {
  GroupSimulation{stage, jobs, beta, policy, seed, total}.run();
}

std::vector<std::size_t> assign_workloads(std::vector<ClusterGroup>& groups, std::span<const Seconds> typical_times) {
  const std::size_t clusters = typical_times.size();
  std::vector<double> times;
  for (const ClusterGroup& group : groups) {
    times.push_back(mean_time(group).value());
  }
  std::vector<double> sorted = times;
  std::ranges::sort(sorted);
  // Lloyd's algorithm from evenly spaced quantiles: on a line it always converges to the same result.
  std::vector<double> centres(clusters);
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    centres[cluster] = sorted[(2 * cluster + 1) * sorted.size() / (2 * clusters)];
  }
  constexpr int most_rounds = 1000;
  bool moved = true;
  for (int round = 0; round < most_rounds && moved; ++round) {
    moved = false;
    std::size_t from = 0;
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
      const double edge = cluster + 1 < clusters ? 0.5 * (centres[cluster] + centres[cluster + 1]) : sorted.back();
      const auto to = static_cast<std::size_t>(
          std::ranges::upper_bound(sorted.begin() + static_cast<std::ptrdiff_t>(from), sorted.end(), edge) -
          sorted.begin());
      if (to > from) {
        double sum = 0.0;
        for (std::size_t i = from; i < to; ++i) {
          sum += sorted[i];
        }
        const double centre = sum / static_cast<double>(to - from);
        moved = moved || centre != centres[cluster];
        centres[cluster] = centre;
      }
      from = to;
    }
  }
  std::vector<std::size_t> order(clusters);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [typical_times](std::size_t i) { return typical_times[i]; });
  std::vector<std::size_t> assigned;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto nearest =
        std::ranges::min_element(centres, {}, [&](double centre) { return std::fabs(centre - times[group]); });
    for (ClusterJob& job : groups[group].jobs) {
      job.runtime_ratio = *nearest > 0.0 ? (job.end - job.start).value() / *nearest : 1.0;
    }
    assigned.push_back(order[static_cast<std::size_t>(nearest - centres.begin())]);
  }
  return assigned;
}

}  // namespace zeus::research
