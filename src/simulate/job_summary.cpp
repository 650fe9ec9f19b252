#include "simulate/job_summary.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace zeus::simulate {

namespace {

using Json = nlohmann::ordered_json;

constexpr int last_tries = 5;

Json to_json_object(const Spread& spread) {
  return {{"mean", spread.mean()}, {"std", spread.deviation()}};
}

std::string_view name_of(records::TryOutcome outcome) {
  switch (outcome) {
    case records::TryOutcome::reached:
      return "reached";
    case records::TryOutcome::stopped:
      return "stopped";
    case records::TryOutcome::exhausted:
      return "exhausted";
    case records::TryOutcome::lost:
      return "lost";
  }
  return "lost";
}

}  // namespace

void JobSummary::add(SimulatedJob job) {
  const Configuration& reference = stage_->default_configuration();
  Spread energy;
  Spread time;
  Spread expected_cost;
  int found = 0;
  for (auto attempt = job.tries.rbegin(); attempt != job.tries.rend() && found < last_tries; ++attempt) {
    const TryResult& result = attempt->result;
    if (reached(result.outcome)) {
      ++found;
      energy.add(result.energy / reference.energy);
      time.add(result.time / reference.time);
      expected_cost.add(stage_->expected_cost(result.arm, result.limit) / stage_->optimum().cost);
    }
  }
  last_energy_.add(energy.mean());
  last_time_.add(time.mean());
  last_expected_cost_.add(expected_cost.mean());
  double sum = 0.0;
  double expected_sum = 0.0;
  for (std::size_t recurrence = 0; recurrence < job.recurrences.size(); ++recurrence) {
    const SimulatedRecurrence& paid = job.recurrences[recurrence];
    sum += optimize::regret(paid.cost, paid.optimum) / paid.optimum;
    expected_sum += optimize::regret(paid.expected_cost, paid.optimum) / paid.optimum;
    cumulative_[recurrence].regret.add(sum);
    cumulative_[recurrence].expected.add(expected_sum);
  }
  regret_.add(sum);
  expected_regret_.add(expected_sum);
  if (!has_first_) {
    first_ = std::move(job);
    has_first_ = true;
  }
}

std::string JobSummary::to_json(const std::string& policy, std::uint64_t seeds) const {
  const Workload& workload = stage_->workload();
  const Configuration& reference = stage_->default_configuration();
  const Configuration& best = stage_->optimum();
  Json object;
  object["workload"] = workload.name;
  object["policy"] = policy;
  object["recurrences"] = cumulative_.size();
  object["seeds"] = seeds;
  object["default"] = {{"batch_size", workload.default_batch_size},
                       {"power_limit_w", workload.max_limit.value()},
                       {"energy_j", reference.energy.value()},
                       {"time_s", reference.time.value()}};
  object["optimum"] = {{"batch_size", workload.arms[best.arm].batch_size},
                       {"power_limit_w", workload.arms[best.arm].limits[best.limit].limit.value()},
                       {"energy_ratio", best.energy / reference.energy},
                       {"time_ratio", best.time / reference.time}};
  object["last5"] = {{"energy_ratio", to_json_object(last_energy_)},
                     {"time_ratio", to_json_object(last_time_)},
                     {"expected_cost_ratio", to_json_object(last_expected_cost_)}};
  object["regret"] = to_json_object(regret_);
  object["expected_regret"] = to_json_object(expected_regret_);
  Json cumulative = Json::array();
  Json cumulative_expected = Json::array();
  for (const Cumulative& after : cumulative_) {
    cumulative.push_back(after.regret.mean());
    cumulative_expected.push_back(after.expected.mean());
  }
  object["cumulative_regret"] = std::move(cumulative);
  object["cumulative_expected_regret"] = std::move(cumulative_expected);
  Json history = Json::array();
  for (const SimulatedTry& attempt : first_.tries) {
    const TryResult& result = attempt.result;
    history.push_back({{"recurrence", attempt.recurrence},
                       {"batch_size", workload.arms[result.arm].batch_size},
                       {"power_limit_w", workload.arms[result.arm].limits[result.limit].limit.value()},
                       {"profiled", result.profiled},
                       {"outcome", name_of(result.outcome)},
                       {"epochs", result.epochs},
                       {"energy_j", result.energy.value()},
                       {"time_s", result.time.value()},
                       {"cost_j", result.cost.value()}});
  }
  object["history"] = std::move(history);
  return object.dump();
}

}  // namespace zeus::simulate
