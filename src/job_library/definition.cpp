#include "job_library/definition.hpp"

#include "job_library/require.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "optimize/batch_size/policy_factory.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace zeus::job_library {

namespace {

int default_batch_size_of(const JobDefinition& definition) {
  const std::vector<int>& sizes = definition.batch_sizes;
  if (sizes.empty()) {
    require(!definition.default_batch_size, "there is a default batch size but no batch sizes to choose from",
            "give batch_sizes as well, or leave out both");
    return 0;
  }
  require(definition.default_batch_size || sizes.size() == 1, "there are several batch sizes but no default",
          "set default_batch_size to the one that you would use without Zeus");
  return definition.default_batch_size.value_or(sizes.front());
}

JobSavings savings_of(const records::SavingsView& view) {
  return {.recurrences = view.recurrences,
          .energy = view.energy,
          .energy_uncertainty = view.energy_uncertainty,
          .energy_of_default = view.energy_of_default,
          .time = view.time,
          .time_uncertainty = view.time_uncertainty,
          .time_of_default = view.time_of_default,
          .cost = view.cost,
          .cost_uncertainty = view.cost_uncertainty,
          .cost_of_default = view.cost_of_default};
}

}  // namespace

records::JobDefinition stored_definition(const JobDefinition& definition, const records::JobDefinition* known) {
  require(!definition.target || std::isfinite(definition.target->metric), "the target is not a number",
          "give the metric to reach, or no target");
  require(!definition.max_epochs || *definition.max_epochs >= 1, "max_epochs is below 1", "give at least 1");
  const std::string new_policy{optimize::best_policy};
  const int most = definition.max_epochs.value_or(known != nullptr ? known->max_epochs : optimize::most_epochs);
  return {.batch_sizes = definition.batch_sizes,
          .default_batch_size = default_batch_size_of(definition),
          .target = definition.target
                        ? std::optional{records::JobTarget{.metric = definition.target->metric,
                                                           .higher_is_better = definition.target->higher_is_better}}
                        : std::nullopt,
          .max_epochs = most,
          .eta = definition.eta,
          .beta = definition.beta,
          .window = definition.window,
          .policy = !definition.policy.empty() ? definition.policy
                    : known != nullptr         ? known->policy
                                               : new_policy,
          .seed = definition.seed,
          .max_slowdown = definition.max_slowdown,
          .learning_rate = known != nullptr ? known->learning_rate : std::nullopt,
          .zeus = known != nullptr ? known->zeus : std::nullopt,
          .device = known != nullptr ? known->device : records::JobDevice{}};
}

JobDefinition public_definition(const records::JobDefinition& definition) {
  JobDefinition known;
  known.batch_sizes = definition.batch_sizes;
  if (!definition.batch_sizes.empty()) {
    known.default_batch_size = definition.default_batch_size;
  }
  if (definition.target) {
    known.target =
        TrainingTarget{.metric = definition.target->metric, .higher_is_better = definition.target->higher_is_better};
  }
  known.max_epochs = definition.max_epochs;
  known.eta = definition.eta;
  known.beta = definition.beta;
  known.max_slowdown = definition.max_slowdown;
  known.window = definition.window;
  known.policy = definition.policy;
  known.seed = definition.seed;
  return known;
}

records::JobDevice stored_device(const JobDevices& devices) {
  const auto is_some = [](Watts power) { return std::isfinite(power.value()) && power > Watts{}; };
  require(!devices.model.empty() && devices.count >= 1, "the devices elsewhere have no model, or their number is 0",
          "give the product name and the number of devices");
  require(is_some(devices.max_power), "the devices' maximum power is not a number of watts above 0",
          "give the sum of their highest limits");
  require(!devices.power_limits.empty() && std::ranges::all_of(devices.power_limits, is_some),
          "the devices elsewhere have no power limit, or one that is not a number of watts above 0",
          "give the limits that may be set on each, or the one in force");
  records::JobDevice stored{.model = devices.model,
                            .gpus = devices.count,
                            .max_power = devices.max_power,
                            .power_limits = devices.power_limits};
  std::ranges::sort(stored.power_limits);
  const auto twice = std::ranges::unique(stored.power_limits);
  stored.power_limits.erase(twice.begin(), twice.end());
  return stored;
}

JobSummary summary_of(const records::JobView& view) {
  JobSummary summary;
  summary.recurrences = view.recurrences.size();
  summary.reached = static_cast<std::uint64_t>(
      std::ranges::count(view.recurrences, records::RecurrenceState::reached, &records::RecurrenceView::state));
  summary.tries = view.tries.size();
  summary.best_cost = view.best_cost;
  if (view.savings) {
    summary.savings = savings_of(*view.savings);
  }
  if (view.savings_last) {
    summary.savings_of_last_five = savings_of(*view.savings_last);
  }
  summary.savings_unknown = view.savings_unknown;
  summary.next = view.next.why;
  return summary;
}

}  // namespace zeus::job_library
