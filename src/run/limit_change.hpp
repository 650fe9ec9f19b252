// What a power setting changes for the steps of one training, against the highest limit that was compared with it:
// their energy and their time, each with a 95 % interval. Plain values, pure.
#pragma once

#include "optimize/power_limit/limit_curve.hpp"

#include <zeus/power.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::run {

struct LimitChange {
  PowerSetting setting;
  Watts highest;
  optimize::StepChange step;
};

// Empty unless a training kept a setting other than the highest limit, and both were measured.
[[nodiscard]] std::optional<LimitChange> limit_change(const TrainingResult& result);

// Whether the training kept the highest limit that it measured.
[[nodiscard]] bool kept_highest(const TrainingResult& result);

}  // namespace zeus::run
