// What a power setting changes for the steps of one training, against the highest limit that was compared with it:
// their energy and their time, each with a 95 % interval; and what comparing limits took. Plain values, pure.
#pragma once

#include "optimize/power_limit/limit_curve.hpp"
#include "records/limit_profile.hpp"

#include <zeus/power.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <span>

namespace zeus::run {

// The energy that the training took while limits were compared, beyond that of as many steps under the kept setting.
struct ComparingCost {
  Joules energy;
  Joules half_width;
};

// After how many runs like this one a saving exceeds what comparing limits took.
struct RunsToRegain {
  double least = 0.0;
  double most = 0.0;
};

struct LimitChange {
  PowerSetting setting;
  Watts highest;
  optimize::StepChange step;
  ComparingCost comparing;
  std::optional<RunsToRegain> regained;  // empty if it cannot be told from chance that energy is saved
};

// Empty unless a training kept a setting other than the highest limit, or would have, and both were measured. What
// comparing took is counted only where the setting was kept.
[[nodiscard]] std::optional<LimitChange> limit_change(const TrainingResult& result);

// Whether the training kept the highest limit that it measured.
[[nodiscard]] bool kept_highest(const TrainingResult& result);

struct OtherLimit {
  PowerSetting setting;
  Watts against;
  optimize::StepChange step;
};
// What the next limit below the kept one, of those that were measured, changes against the highest; empty if there is
// none, and where a clock was kept, since a limit holds back in another way.
[[nodiscard]] std::optional<OtherLimit> next_lower_limit(const TrainingResult& result);
// The same for the epochs of a job's batch size, whose limits are ascending; against the highest of those of which it
// is known how well they were measured.
[[nodiscard]] std::optional<OtherLimit> next_lower_limit(std::span<const records::LimitProfile> limits, Watts kept);

}  // namespace zeus::run
