#include "simulate/model_workload.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace zeus::simulate {

namespace {

constexpr Watts limit_step{25};
constexpr int most_draws_for_a_run = 100;  // for each run of the default batch size

WorkloadArm model_arm(const physics::Workload& model, const physics::GpuModel& gpu, int batch_size, std::uint64_t seed,
                      int runs) {
  WorkloadArm arm{.batch_size = batch_size, .limits = {}, .runs = {}};
  for (Watts limit = gpu.limits.max; limit >= gpu.limits.min; limit -= limit_step) {
    const physics::EpochObservation epoch = model.epoch(gpu, limit, batch_size);
    arm.limits.push_back({.limit = limit, .epoch_time = epoch.time, .average_power = epoch.power});
  }
  std::ranges::reverse(arm.limits);
  Random random{seed, static_cast<std::uint64_t>(batch_size)};
  const bool must_reach = batch_size == model.default_batch_size(gpu);
  for (int draw = 0; draw < most_draws_for_a_run * runs && arm.runs.size() < static_cast<std::size_t>(runs); ++draw) {
    const std::optional<int> epochs = model.draw_epochs(batch_size, random);
    if (!must_reach || (epochs && *epochs <= model.definition().max_epochs)) {
      arm.runs.push_back(epochs);
    }
  }
  std::ranges::sort(arm.runs, {}, [](const std::optional<int>& run) {
    return std::tuple{!run.has_value(), run.value_or(0)};
  });
  return arm;
}

}  // namespace

Workload model_workload(const physics::Workload& model, const physics::GpuModel& gpu, std::uint64_t seed, int runs) {
  const physics::Workload::Definition& definition = model.definition();
  Workload workload{.name = fmt::format("{}/{}/{}", definition.dataset, definition.network, definition.optimizer),
                    .arms = {},
                    .max_epochs = definition.max_epochs,
                    .default_batch_size = model.default_batch_size(gpu),
                    .max_limit = gpu.limits.max,
                    .max_power = gpu.limits.max};
  for (const int batch_size : model.batch_sizes(gpu)) {
    workload.arms.push_back(model_arm(model, gpu, batch_size, seed, runs));
  }
  return workload;
}

Workload model_workload(std::string_view workload, std::string_view gpu) {
  return model_workload(physics::workload(workload), physics::preset(gpu));
}

}  // namespace zeus::simulate
