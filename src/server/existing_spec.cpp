#include "server/existing_spec.hpp"

#include "jobs/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace zeus::server {

std::uint64_t unspoken_seed(std::string_view job_id) {
  constexpr std::uint64_t beyond_any_given = std::uint64_t{1} << 63U;
  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char letter : job_id) {
    sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return sum | beyond_any_given;
}

records::JobDefinition definition_of(const ExistingSpec& spec, std::string_view job_id) {
  return jobs::normalized(
      {.batch_sizes = spec.batch_sizes,
       .default_batch_size = spec.default_batch_size,
       .target = records::JobTarget{.metric = spec.target_metric, .higher_is_better = spec.higher_is_better_metric},
       .max_epochs = spec.max_epochs,
       .eta = spec.eta_knob,
       .beta = spec.beta_knob.value_or(std::numeric_limits<double>::infinity()),
       .window = static_cast<std::size_t>(std::max<std::int64_t>(spec.window_size, 0)),
       .policy = "zeus",
       .seed = spec.mab_seed ? static_cast<std::uint64_t>(*spec.mab_seed) : unspoken_seed(job_id),
       .max_slowdown = {},
       .learning_rate = {},
       .zeus = records::ZeusChoices{.pruning_rounds = spec.num_pruning_rounds,
                                    .explorations = spec.mab_num_explorations,
                                    .prior_cost = Joules{0.0 - spec.mab_prior_mean},
                                    .prior_precision = spec.mab_prior_precision},
       .device = {.model = spec.gpu_model,
                  .gpus = spec.number_of_gpus,
                  .max_power = spec.max_power,
                  // Such a client leaves limits alone or sets them itself, so there is no choice.
                  .power_limits = {spec.max_power / spec.number_of_gpus}}});
}

std::vector<std::string> existing_differences(const records::JobDefinition& kept, const records::JobDefinition& asked) {
  std::vector<std::string> all;
  for (records::DefinitionChange& change : differences(kept, asked)) {
    all.push_back(std::move(change.sentence));
  }
  if (kept.device.model != asked.device.model || kept.device.gpus != asked.device.gpus) {
    all.push_back(fmt::format("its GPUs are {}, not {}", to_text(kept.device), to_text(asked.device)));
  } else if (kept.device != asked.device) {
    all.push_back(fmt::format("its GPUs draw {} W at most, not {} W", kept.device.max_power.value(),
                              asked.device.max_power.value()));
  }
  return all;
}

}  // namespace zeus::server
