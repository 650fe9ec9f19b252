// A range of power limits. A plain value.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

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

}  // namespace zeus::device
