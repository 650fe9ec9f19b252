// The GPUs that a job trains on, as its record and its policy of limits see them: which limits can be tried, which of
// them a node's policy allows, and the device that is recorded. Every front describes its GPUs so, and so records the
// same device.
#pragma once

#include "records/job_definition.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zeus::trial {

struct LimitRange {
  Watts minimum;
  Watts maximum;
};

struct JobGpu {
  std::string model;
  Watts minimum;  // of its own range
  Watts maximum;
  Watts current;
  std::vector<LimitRange> allowed;  // by a node's policy; empty: its own range
};

// These limits, ascending, each once; if there are none, steps of 25 W from the highest limit down. Throws an
// invalid_argument Error for limits that not all of the GPUs can have.
[[nodiscard]] std::vector<Watts> possible_limits(const std::vector<JobGpu>& gpus, const std::vector<Watts>& wanted);

// Those of them that policies allow on all of the GPUs.
[[nodiscard]] std::vector<Watts> allowed_limits(const std::vector<JobGpu>& gpus, std::vector<Watts> limits);

// The allowed limit that is nearest to the present one: setting it shows whether this user may set limits, and changes
// nothing unless the present limit is one that policy forbids.
[[nodiscard]] Watts nearest_allowed(const JobGpu& gpu);

// The device of a job that may `set` these limits; otherwise it has only the limit in force.
[[nodiscard]] records::JobDevice job_device(const std::vector<JobGpu>& gpus, const std::vector<Watts>& wanted,
                                            bool set);

// The device of a job while it is not known which limits a policy allows: `known`, the job's own, if it is of the same
// GPUs and all of its limits are among those of `here`. Nothing otherwise.
[[nodiscard]] std::optional<records::JobDevice> device_as_known(const records::JobDevice& here,
                                                                const records::JobDevice& known);

// For a warning: the limits that a node's policy allows, out of `possible` ones.
[[nodiscard]] std::string policy_text(const std::vector<Watts>& allowed, std::size_t possible);

// The present limit; empty if these differ or one is unknown.
[[nodiscard]] std::optional<Watts> common_limit(const std::vector<std::optional<Watts>>& limits);

}  // namespace zeus::trial
