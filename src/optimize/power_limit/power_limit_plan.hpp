// Which slices to measure, and what to choose from them: the part of the just-in-time profiler that the two plans do
// differently. Pure: plain values in, plain values out, and the same decisions for the same calls. One owner, one
// thread.
#pragma once

#include "optimize/power_limit/slice.hpp"
#include "records/power_measurement.hpp"
#include "records/power_setting.hpp"

#include <optional>
#include <vector>

namespace zeus::optimize {

class PowerLimitPlan {
 public:
  PowerLimitPlan() = default;
  PowerLimitPlan(const PowerLimitPlan&) = default;
  PowerLimitPlan& operator=(const PowerLimitPlan&) = default;
  virtual ~PowerLimitPlan() = default;

  // The next slice; nothing when the plan is done. Asking again without an answer in between gives the same.
  [[nodiscard]] virtual std::optional<SliceRequest> next() = 0;
  // The answer to next(), which may have measured fewer steps than were asked for.
  virtual void measured(const Slice& slice) = 0;
  // The device will not take this setting: it is left out from now on.
  virtual void refused(const records::PowerSetting& setting) = 0;

  // The choice by what is known so far; nothing when nothing is.
  [[nodiscard]] virtual std::optional<records::PowerSetting> optimum() const = 0;
  // One entry for each setting measured, limits before clocks, each from the highest down.
  [[nodiscard]] virtual std::vector<records::PowerMeasurement> measurements() const = 0;
};

}  // namespace zeus::optimize
