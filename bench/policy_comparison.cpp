#include "bench/policy_comparison.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "research/published_jobs.hpp"
#include "simulate/drift.hpp"
#include "simulate/stage.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace zeus::bench {

namespace {

using simulate::JobSummary;
using simulate::Phase;
using simulate::SimulatedJob;
using simulate::SimulatedRecurrence;
using simulate::Stage;

constexpr double drift_eta = 0.5;
constexpr std::uint64_t drift_at = 60;
constexpr std::uint64_t recurrences_after = 140;

}  // namespace

Contender contender(std::string_view policy, std::size_t window) {
  return {.name = std::string{policy},
          .factory = [policy](const optimize::JobSpec& spec) { return optimize::make_policy(policy, spec); },
          .window = window};
}

void for_each_index(std::size_t count, const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t)>& done) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<bool> finished(count, false);
  std::size_t told = 0;
  std::exception_ptr problem;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        problem = problem ? problem : std::current_exception();
        next = count;
        return;
      }
      const std::lock_guard lock{mutex};
      finished[i] = true;
      for (; done && told < count && finished[told]; ++told) {
        done(told);
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t thread = 0; thread < std::min(processors, count); ++thread) {
      threads.emplace_back(run);
    }
  }
  if (problem) {
    std::rethrow_exception(problem);
  }
}

std::uint64_t automatic_recurrences(const simulate::Workload& workload) {
  return 2 * workload.arms.size() * workload.limits().size();
}

Outcome outcome_of(const PolicyJob& job, const Contender& contender, std::uint64_t seeds, int in_flight) {
  const Stage stage{job.workload, job.eta};
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const simulate::SimulationOptions options{
      .window = contender.window, .recurrences = automatic_recurrences(job.workload), .in_flight = in_flight};
  JobSummary summary{stage, options.recurrences};
  std::vector<double> regrets;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    try {
      SimulatedJob simulated = simulate_job(phases, options, contender.factory, seed);
      regrets.push_back(0.0);
      for (const SimulatedRecurrence& paid : simulated.recurrences) {
        regrets.back() += optimize::regret(paid.expected_cost, paid.optimum) / paid.optimum;
      }
      summary.add(std::move(simulated));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unavailable) {
        throw;
      }
      return {.gave_up = true};
    }
  }
  return {.regret = summary.expected_regret().mean(),
          .regret_at_ten = summary.expected_regret_after(std::min<std::uint64_t>(10, options.recurrences)),
          .last_five = summary.last_expected_cost_ratio().mean(),
          .regrets = std::move(regrets),
          .recurrences = options.recurrences};
}

void Ratios::add(const Outcome& ours, const Outcome& theirs) {
  we_gave_up_ += ours.gave_up ? 1 : 0;
  they_gave_up_ += theirs.gave_up ? 1 : 0;
  if (theirs.gave_up) {
    return;
  }
  if (ours.gave_up) {
    end_.push_back(ratio_of_given_up);
    losses_.push_back(ratio_of_given_up);
    return;
  }
  const double ratio = ours.regret / theirs.regret;
  end_.push_back(ratio);
  if (ratio > 1.0 && ours.regret - theirs.regret > negligible * static_cast<double>(ours.recurrences)) {
    losses_.push_back(ratio);
  }
  simulate::Spread residual;
  for (std::size_t seed = 0; seed < ours.regrets.size(); ++seed) {
    residual.add((ours.regrets[seed] - ratio * theirs.regrets[seed]) / theirs.regret);
  }
  variance_ += residual.deviation() * residual.deviation() / static_cast<double>(ours.regrets.size());
  ten_.add(ours.regret_at_ten / theirs.regret_at_ten);
  last_.add(ours.last_five / theirs.last_five);
  worst_last_ = std::max(worst_last_, ours.last_five / theirs.last_five);
  ours_ += ours.regret;
  theirs_ += theirs.regret;
}

std::string Ratios::summary() const {
  simulate::Spread end;
  for (const double ratio : end_) {
    end.add(ratio);
  }
  const double worst = end_.empty() ? 0.0 : std::ranges::max(end_);
  return fmt::format(
      "{} jobs: ratio at the end {:.3f} +- {:.3f} (worst {:.2f}, {} above 1; {} lost, worst {:.2f}; of all regret "
      "{:.3f}), after ten {:.3f}, last five {:.4f} (worst {:.3f}); given up {} against {}",
      end_.size(), end.mean(), std::sqrt(variance_) / static_cast<double>(std::max<std::size_t>(end_.size(), 1)), worst,
      std::ranges::count_if(end_, [](double ratio) { return ratio > 1.0; }), losses_.size(),
      losses_.empty() ? 0.0 : std::ranges::max(losses_), ours_ / theirs_, ten_.mean(), last_.mean(), worst_last_,
      we_gave_up_, they_gave_up_);
}

std::vector<DriftingJob> drifting_jobs(const PolicyTraces& traces, std::size_t count) {
  std::vector<DriftingJob> jobs;
  const std::uint64_t most_seeds = 100 * count;
  for (std::uint64_t seed = 1; jobs.size() < count && seed < most_seeds; ++seed) {
    const std::size_t gpu = seed % traces.power.size();
    const simulate::JobSelection& selection =
        research::published_jobs()[seed / traces.power.size() % research::published_jobs().size()];
    simulate::Workload before = research::select_published(traces.train, traces.power[gpu], selection);
    const std::optional<simulate::Drift> drift = simulate::random_drift(before, drift_eta, drift_at, seed);
    if (drift) {
      simulate::Workload after = drifted(before, *drift);
      jobs.push_back({.name = fmt::format("{} {} seed {} --drift at={},tilt={},curve={}", traces.power[gpu].name,
                                          selection.dataset, seed, drift_at, drift->tilt, drift->curve),
                      .seed = seed,
                      .before = std::move(before),
                      .after = std::move(after)});
    }
  }
  return jobs;
}

Recovery recovery_of(const DriftingJob& job, const Contender& contender) {
  const Stage before{job.before, drift_eta};
  const Stage after{job.after, drift_eta};
  const std::array<Phase, 2> phases = {Phase{.from_recurrence = 0, .stage = &before, .device = {}},
                                       Phase{.from_recurrence = drift_at, .stage = &after, .device = {}}};
  SimulatedJob simulated;
  try {
    simulated = simulate_job(phases, {.window = contender.window, .recurrences = drift_at + recurrences_after},
                             contender.factory, job.seed);
  } catch (const Error&) {
    return {};
  }
  constexpr int enough = 5;
  constexpr double close = 1.05;
  constexpr std::uint64_t last = 20;
  Recovery recovery;
  simulate::Spread settled;
  int in_a_row = 0;
  for (std::uint64_t recurrence = drift_at; recurrence < simulated.recurrences.size(); ++recurrence) {
    const SimulatedRecurrence& paid = simulated.recurrences[recurrence];
    in_a_row = paid.last_expected <= paid.optimum * close ? in_a_row + 1 : 0;
    if (in_a_row == enough && !recovery.recurrences) {
      recovery.recurrences = recurrence + 1 - drift_at;
    }
    if (recurrence + last >= simulated.recurrences.size()) {
      settled.add(paid.last_expected / paid.optimum);
    }
  }
  recovery.settled = settled.mean();
  return recovery;
}

}  // namespace zeus::bench
