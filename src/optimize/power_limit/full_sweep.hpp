// The paper's plan: every limit once, from the highest down, each with the same number of steps to settle and to
// measure. The selector chooses among the plain means. The threading rules are those of PowerLimitPlan.
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
  // Sweeps only the limits; clocks in `range` are left to the driver. `measure` must be above 0.
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
