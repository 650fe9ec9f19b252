// A workload small enough to reason about, and its simulation under a named policy: for tests.
#pragma once

#include "optimize/batch_size/policy_factory.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/stage.hpp"
#include "simulate/workload.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zeus::simulate {

// Epochs bend upward beyond batch size 64; small batches make slow epochs; 512 never reaches the target.
inline Workload small_workload() {
  Workload workload{
      .name = "small", .arms = {}, .max_epochs = 50, .default_batch_size = 128, .max_limit = 250_W, .max_power = 250_W};
  for (const int batch_size : {16, 32, 64, 128, 256, 512}) {
    const double epoch = 20.0 + 3000.0 / batch_size;
    const double epochs = 10.0 + batch_size / 12.0;
    WorkloadArm arm{.batch_size = batch_size,
                    .limits = {{100_W, Seconds{1.4 * epoch}, 95_W},
                               {175_W, Seconds{1.05 * epoch}, 160_W},
                               {250_W, Seconds{epoch}, 220_W}},
                    .runs = {}};
    for (const double noise : {0.95, 1.0, 1.0, 1.1}) {
      arm.runs.push_back(batch_size == 512 ? std::nullopt
                                           : std::optional{static_cast<int>(std::round(epochs * noise))});
    }
    workload.arms.push_back(arm);
  }
  return workload;
}

inline PolicyFactory named(std::string_view name) {
  return [name](const optimize::JobSpec& spec) { return optimize::make_policy(name, spec); };
}

inline SimulatedJob run(const Stage& stage, std::string_view policy, std::uint64_t seed, std::uint64_t recurrences = 40,
                        int in_flight = 1, std::size_t window = 0) {
  const std::array<Phase, 1> phases = {Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  return simulate_job(phases, {.window = window, .recurrences = recurrences, .in_flight = in_flight}, named(policy),
                      seed, true);
}

}  // namespace zeus::simulate
