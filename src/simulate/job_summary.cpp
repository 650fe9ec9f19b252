#include "simulate/job_summary.hpp"

#include "records/json_writer.hpp"

#include <algorithm>
#include <utility>

namespace zeus::simulate {

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
  records::JsonWriter json;
  const auto put_spread = [&](std::string_view key, const Spread& spread) {
    json.put(key, [&] {
      json.put("mean", spread.mean());
      json.put("std", spread.deviation());
    });
  };
  json.object([&] {
    json.put("workload", workload.name);
    json.put("policy", policy);
    json.put("recurrences", cumulative_.size());
    json.put("seeds", seeds);
    json.put("default", [&] {
      json.put("batch_size", workload.default_batch_size);
      json.put("power_limit_w", workload.max_limit);
      json.put("energy_j", reference.energy);
      json.put("time_s", reference.time);
    });
    json.put("optimum", [&] {
      json.put("batch_size", workload.arms[best.arm].batch_size);
      json.put("power_limit_w", workload.arms[best.arm].limits[best.limit].limit);
      json.put("energy_ratio", best.energy / reference.energy);
      json.put("time_ratio", best.time / reference.time);
    });
    json.put("last5", [&] {
      put_spread("energy_ratio", last_energy_);
      put_spread("time_ratio", last_time_);
      put_spread("expected_cost_ratio", last_expected_cost_);
    });
    put_spread("regret", regret_);
    put_spread("expected_regret", expected_regret_);
    json.put_list("cumulative_regret", cumulative_, [&](const Cumulative& after) { json.value(after.regret.mean()); });
    json.put_list("cumulative_expected_regret", cumulative_,
                  [&](const Cumulative& after) { json.value(after.expected.mean()); });
    json.put_list("history", first_.tries, [&](const SimulatedTry& attempt) {
      const TryResult& result = attempt.result;
      json.object([&] {
        json.put("recurrence", attempt.recurrence);
        json.put("batch_size", workload.arms[result.arm].batch_size);
        json.put("power_limit_w", workload.arms[result.arm].limits[result.limit].limit);
        json.put("profiled", result.profiled);
        json.put("outcome", result.outcome);
        json.put("epochs", result.epochs);
        json.put("energy_j", result.energy);
        json.put("time_s", result.time);
        json.put("cost_j", result.cost);
      });
    });
  });
  return json.take();
}

}  // namespace zeus::simulate
