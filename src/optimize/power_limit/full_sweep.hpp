// The paper's plan: every limit from the highest down, some steps to settle and then some measured, in equal numbers,
// once; the choice is the selector's among the plain means. Thread rules as for PowerLimitPlan.
#pragma once

#include "optimize/cost/selector.hpp"
#include "optimize/power_limit/power_limit_plan.hpp"
#include "optimize/power_limit/setting_range.hpp"

#include <cstddef>
#include <cstdint>

namespace zeus::optimize {

struct FullSweepOptions {
  std::uint32_t settle = 10;
  std::uint32_t measure = 40;
};

class FullSweep final : public PowerLimitPlan {
 public:
  // Sweeps the limits alone; clocks in `range` are left to their driver. `measure` must be above 0.
  FullSweep(const SettingRange& range, Selector selector, const FullSweepOptions& options = {});

  [[nodiscard]] std::optional<SliceRequest> next() override;
  void measured(const Slice& slice) override;
  void refused(const records::PowerSetting& setting) override;
  [[nodiscard]] std::optional<records::PowerSetting> optimum() const override;
  [[nodiscard]] std::vector<records::PowerMeasurement> measurements() const override { return measurements_; }

 private:
  std::vector<records::PowerSetting> left_;  // from the highest down
  Selector selector_;
  FullSweepOptions options_;
  std::vector<records::PowerMeasurement> measurements_;
};

}  // namespace zeus::optimize
