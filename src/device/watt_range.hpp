// Ranges of power limits. Plain values.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <algorithm>
#include <vector>

namespace zeus::device {

struct WattRange {
  Watts minimum;
  Watts maximum;

  [[nodiscard]] bool holds(Watts limit) const { return limit >= minimum && limit <= maximum; }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("minimum", self.minimum, field::above_zero);
    fields("maximum", self.maximum, field::above_zero);
  }
  friend bool operator==(const WattRange&, const WattRange&) = default;
};

// Whether one of the ranges holds the limit. Where there are none, nothing is bounded, and every limit is held.
[[nodiscard]] inline bool hold(const std::vector<WattRange>& ranges, Watts limit) {
  return ranges.empty() || std::ranges::any_of(ranges, [limit](const WattRange& range) { return range.holds(limit); });
}

}  // namespace zeus::device
