// The interface of the profiler's plans: which slices to measure, and what to choose from them. Pure: plain values in,
// plain values out, and the same calls give the same decisions. One owner, one thread.
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

  // The next slice; nothing if the plan is done. Calling it again before an answer returns the same slice.
  [[nodiscard]] virtual std::optional<SliceRequest> next() = 0;
  // The answer to next(). It may have measured fewer steps than requested.
  virtual void measured(const Slice& slice) = 0;
  // The device refuses this setting: it is left out from now on.
  virtual void refused(const records::PowerSetting& setting) = 0;

  // The choice according to the measurements so far; nothing without one.
  [[nodiscard]] virtual std::optional<records::PowerSetting> optimum() const = 0;
  // One entry for each setting measured, limits before clocks, each from the highest down.
  [[nodiscard]] virtual std::vector<records::PowerMeasurement> measurements() const = 0;
};

}  // namespace zeus::optimize
