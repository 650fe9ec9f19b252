// An axis of a chart, linear or logarithmic: converts values to coordinates and places numbers beside it. Immutable.
#pragma once

#include "report/axis.hpp"

#include <vector>

namespace zeus::report {

class Scale {
 public:
  // As Axis; on a logarithmic scale, values are above 0.
  Scale(bool logarithmic, double low, double high, double from, double to);

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double from() const { return axis_.from(); }
  [[nodiscard]] double to() const { return axis_.to(); }
  // On a logarithmic scale powers of two, or every second, third and so on if not all fit; round numbers if there are
  // too few.
  [[nodiscard]] std::vector<Tick> ticks(int wanted) const;

 private:
  bool logarithmic_;
  double low_;
  double high_;
  Axis axis_;
};

}  // namespace zeus::report
