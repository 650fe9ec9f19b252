// An axis of a chart, linear or logarithmic: turns values into coordinates, and has the numbers beside it. Immutable.
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
  // On a logarithmic scale powers of two, or every so many of them where all would not fit; round numbers where there
  // are too few of them.
  [[nodiscard]] std::vector<Tick> ticks(int wanted) const;

 private:
  bool logarithmic_;
  double low_;
  double high_;
  Axis axis_;
};

}  // namespace zeus::report
