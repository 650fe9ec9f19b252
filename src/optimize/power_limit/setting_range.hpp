// The power settings a profiler may use: nothing outside of it is ever asked for. A value, checked when it is made.
#pragma once

#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <span>
#include <vector>

namespace zeus::optimize {

class SettingRange {
 public:
  // Limits in any order, and clocks where those may be locked. At least one limit, all of them finite, above zero and
  // different; anything else is an invalid_argument Error.
  explicit SettingRange(std::vector<Watts> limits, std::vector<Megahertz> clocks = {});

  // Every `step` from the highest limit down, as far as `min`; `min` itself only when it falls on the grid.
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
