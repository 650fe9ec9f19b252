#include "report/scale.hpp"

#include <fmt/format.h>

#include <cmath>

namespace zeus::report {

Scale::Scale(bool logarithmic, double low, double high, double from, double to)
    : logarithmic_{logarithmic},
      low_{low},
      high_{high},
      axis_{logarithmic ? std::log2(low) : low, logarithmic ? std::log2(high) : high, from, to} {
}

double Scale::at(double value) const {
  return axis_.at(logarithmic_ ? std::log2(value) : value);
}

std::vector<Tick> Scale::ticks(int wanted) const {
  if (!logarithmic_) {
    return axis_.ticks(wanted);
  }
  const double doublings = std::log2(high_ / low_);
  const int stride = std::max(1, static_cast<int>(std::ceil(doublings / std::max(wanted, 1))));
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::ceil(std::log2(low_) - 1e-9)); std::exp2(power) <= high_ * (1.0 + 1e-9);
       power += stride) {
    ticks.push_back({std::exp2(power), fmt::format("{:g}", std::exp2(power))});
  }
  // Powers of two are no help if most of the axis has no tick; round numbers are then better.
  const bool spread = ticks.size() > 2 || (ticks.size() == 2 && doublings < 1.2);
  return spread ? ticks : Axis{low_, high_, 0.0, 1.0}.ticks(wanted);
}

}  // namespace zeus::report
