// Chooses what the profiler of a training tries: the power limits and clocks that the GPUs and a policy allow, and how
// they are compared. The training's thread.
#pragma once

#include "optimize/power_limit/power_limit_plan.hpp"
#include "records/power_profile.hpp"
#include "train/tuner_parts.hpp"

#include <memory>
#include <optional>

namespace zeus::train {

// While observing, the setting that was found, which has to be known as well as the optimum; otherwise nothing.
[[nodiscard]] std::optional<records::PowerSetting> predicted_from(const TunerParts& parts);

// Starts from `known` if there is a profile. Rank 0 makes the plan, the others follow it; an exchange among the ranks.
// Throws an AgreedFailure if there is nothing to try, and warns if a policy refuses some of the limits.
[[nodiscard]] std::unique_ptr<optimize::PowerLimitPlan> plan_for(const TunerParts& parts,
                                                                 const std::optional<records::PowerProfile>& known);

}  // namespace zeus::train
