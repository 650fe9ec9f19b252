#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zeus::report {

Axis::Axis(double low, double high, double from, double to) : low_{low}, high_{high}, from_{from}, to_{to} {
  if (!(high_ - low_ > std::abs(high_) * 1e-9)) {
    const double margin = std::max(std::abs(low_) * 0.05, 1e-6);
    low_ -= margin;
    high_ += margin;
  }
}

std::vector<Tick> Axis::ticks(int wanted) const {
  const double rough = (high_ - low_) / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
    }
  }
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
  std::vector<Tick> ticks;
  const double first = std::ceil(low_ / step - 1e-9);
  for (int k = 0; (first + k) * step <= high_ + step * 1e-9; ++k) {
    const double value = (first + k) * step;
    ticks.push_back({value, fmt::format("{:.{}f}", value == 0.0 ? 0.0 : value, digits)});
  }
  return ticks;
}

}  // namespace zeus::report
