// What tests of jobs and of their stores store and ask for.
#pragma once

#include "records/job_definition.hpp"

#include <cstddef>
#include <limits>

namespace zeus::test {

// As many entries of a job as there are.
inline constexpr std::size_t all_entries = std::numeric_limits<std::size_t>::max();

inline records::JobDevice two_limit_v100() {
  return {.model = "V100", .gpus = 1, .max_power = 250_W, .power_limits = {100_W, 250_W}};
}

// There is nothing to choose.
inline records::JobDefinition one_limit_job() {
  return {
      .policy = "zeus", .max_slowdown = {}, .device = {.model = "V100", .max_power = 250_W, .power_limits = {250_W}}};
}

}  // namespace zeus::test
