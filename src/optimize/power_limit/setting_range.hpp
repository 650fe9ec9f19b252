// The power settings that a profiler may use; it requests nothing outside of them. A value, checked by its constructor.
#pragma once

#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <span>
#include <vector>

namespace zeus::optimize {

class SettingRange {
 public:
  // Limits in any order, and clocks if they may be locked. There must be at least one limit, and all values must be
  // finite, above zero and different; anything else is an invalid_argument Error.
  explicit SettingRange(std::vector<Watts> limits, std::vector<Megahertz> clocks = {});

  // Every `step` from the highest limit down to `min`; `min` itself only if it falls on the grid.
  static SettingRange of_steps(Watts min, Watts max, Watts step);

  // From the highest down.
  [[nodiscard]] std::span<const Watts> limits() const { return limits_; }
  [[nodiscard]] std::span<const Megahertz> clocks() const { return clocks_; }
  [[nodiscard]] records::PowerSetting highest() const { return {.limit = limits_.front(), .clock = std::nullopt}; }
  [[nodiscard]] bool holds(const records::PowerSetting& setting) const;

 private:
  std::vector<Watts> limits_;
  std::vector<Megahertz> clocks_;
};

}  // namespace zeus::optimize
