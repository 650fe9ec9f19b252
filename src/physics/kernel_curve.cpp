#include "physics/kernel_curve.hpp"

#include "base/portable_math.hpp"

#include <algorithm>

namespace zeus::physics {

KernelCurve::KernelCurve(const GpuModel& model, const Demand& demand, Celsius temperature)
    : curve_{&model.power},
      memory_{demand.kind == DemandKind::power ? model.power.memory_time : demand.memory},
      waiting_{curve_->waiting * (1.0 + curve_->leakage * (temperature - curve_->reference).value())},
      dynamic_{demand.kind == DemandKind::power ? demand.power - waiting_ : curve_->dynamic * demand.activity} {
}

double KernelCurve::voltage(double clock) const {
  const double above = (clock - curve_->voltage_knee) / (1.0 - curve_->voltage_knee);
  if (above <= 0.0) {
    return curve_->voltage_floor;
  }
  const double bent = above >= 1.0 ? 1.0 : portable::pow(above, curve_->voltage_bend);
  return curve_->voltage_floor + (1.0 - curve_->voltage_floor) * bent;
}

KernelPoint KernelCurve::at(double clock) const {
  return {.clock = clock, .time = time(clock), .power = power(clock)};
}

KernelPoint KernelCurve::within(Watts cap, double low, double high) const {
  if (power(high) <= cap) {
    return at(high);
  }
  // Power grows with the clock, so halving the interval finds it, to less than a millionth of the highest clock.
  for (int i = 0; i < 20 && power(low) < cap; ++i) {
    const double middle = 0.5 * (low + high);
    (power(middle) <= cap ? low : high) = middle;
  }
  return at(low);
}

Watts KernelCurve::power(double clock) const {
  const double v = voltage(clock);
  const double core = (1.0 - curve_->memory_part) * clock * v * v;
  return waiting_ + dynamic_ * (core + curve_->memory_part / time(clock));
}

double step_time(double kernels, double host, double overlap) {
  const double longer = std::max(kernels, host);
  const double shorter = std::min(kernels, host);
  if (shorter <= 0.0) {
    return longer;
  }
  return longer * portable::pow(1.0 + portable::pow(shorter / longer, overlap), 1.0 / overlap);
}

}  // namespace zeus::physics
