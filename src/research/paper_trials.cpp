#include "research/paper_trials.hpp"

#include "optimize/batch_size/policy_factory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

namespace zeus::research {

namespace {

simulate::PolicyFactory factory_of(std::string_view policy) {
  return [policy](const optimize::JobSpec& spec) { return optimize::make_policy(policy, spec); };
}

simulate::SimulatedJob run_one(const simulate::Stage& stage, const simulate::SimulationOptions& options,
                               const simulate::PolicyFactory& policy, std::uint64_t seed, bool keep_events = false) {
  const std::array phases{simulate::Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  return simulate::simulate_job(phases, options, policy, seed, keep_events);
}

void add_last(PaperTrials& trials, const simulate::Stage& stage, const simulate::SimulatedJob& job) {
  simulate::Spread energy;
  simulate::Spread time;
  int found = 0;
  for (auto attempt = job.tries.rbegin(); attempt != job.tries.rend() && found < simulate::last_tries; ++attempt) {
    if (reached(attempt->result.outcome)) {
      ++found;
      energy.add(attempt->result.energy / stage.default_configuration().energy);
      time.add(attempt->result.time / stage.default_configuration().time);
    }
  }
  trials.energy_ratio.add(energy.mean());
  trials.time_ratio.add(time.mean());
  trials.energy_ratios.push_back(energy.mean());
  trials.time_ratios.push_back(time.mean());
  const auto last = std::ranges::find_if(job.tries | std::views::reverse, [](const simulate::SimulatedTry& attempt) {
    return reached(attempt.result.outcome);
  });
  const simulate::Configuration& best = stage.optimum();
  // A job in which no try reaches ends nowhere.
  const bool at_optimum = last != job.tries.rend() && last->result.arm == best.arm && last->result.limit == best.limit;
  trials.ends_at_optimum.push_back(at_optimum ? 1.0 : 0.0);
}

}  // namespace

std::vector<PaperPolicy> paper_policies() {
  return {{.policy = "grid", .label = "Grid search"},
          {.policy = "zeus", .label = "zeus (the paper's)"},
          {.policy = optimize::best_policy, .label = std::string{optimize::best_policy} + " (the default policy)"}};
}

std::uint64_t paper_recurrences(const simulate::Workload& workload) {
  return 2 * workload.arms.size() * workload.limits().size();
}

PaperTrials run_trials(const simulate::Stage& stage, const simulate::SimulationOptions& options,
                       const simulate::PolicyFactory& policy, std::uint64_t seeds) {
  PaperTrials trials{.recurrences = options.recurrences,
                     .cumulative = std::vector<simulate::Spread>(options.recurrences)};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const simulate::SimulatedJob job = run_one(stage, options, policy, seed);
    add_last(trials, stage, job);
    double regret = 0.0;
    for (std::size_t i = 0; i < job.recurrences.size(); ++i) {
      regret += optimize::regret(job.recurrences[i].cost, job.recurrences[i].optimum) / job.recurrences[i].optimum;
      trials.cumulative[i].add(regret);
    }
    trials.regret.add(regret);
    trials.regrets.push_back(regret);
    Joules energy;
    Seconds time;
    for (const simulate::SimulatedTry& attempt : job.tries) {
      energy += attempt.result.energy;
      time += attempt.result.time;
    }
    trials.total_energy.add(energy.value());
    trials.total_energies.push_back(energy.value());
    trials.total_time.add(time.value());
    trials.total_times.push_back(time.value());
  }
  return trials;
}

PaperTrials run_trials(const simulate::Stage& stage, std::string_view policy, std::uint64_t seeds, double beta) {
  return run_trials(stage, {.beta = beta, .recurrences = paper_recurrences(stage.workload())}, factory_of(policy),
                    seeds);
}

std::vector<simulate::SimulatedTry> search_path(const simulate::Stage& stage, std::string_view policy) {
  return run_one(stage, {.recurrences = paper_recurrences(stage.workload())}, factory_of(policy), 1).tries;
}

std::vector<ChosenTry> chosen_tries(const simulate::Stage& stage, std::string_view policy) {
  const simulate::SimulatedJob job =
      run_one(stage, {.recurrences = paper_recurrences(stage.workload())}, factory_of(policy), 1, true);
  std::vector<ChosenTry> chosen;
  for (const records::JobEvent& event : job.events) {
    if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
      chosen.push_back({.recurrence = submitted->recurrence,
                        .batch_size = submitted->plan.batch_size,
                        .explored = submitted->plan.purpose == records::TryPurpose::explore});
    }
  }
  return chosen;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return values.empty() ? 0.0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace zeus::research
