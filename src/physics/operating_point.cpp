#include "physics/operating_point.hpp"

#include "base/portable_math.hpp"
#include "physics/kernel_curve.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::physics {

namespace {

double relative(const GpuModel& model, Megahertz clock) {
  return clock / model.clocks.max;
}

Megahertz on_step(const ClockRange& clocks, double x) {
  const double steps = std::floor((clocks.max * x - clocks.min) / clocks.step + 1e-6);
  return std::clamp(clocks.min + clocks.step * steps, clocks.min, clocks.max);
}

OperatingPoint idle_point(const GpuModel& model, const Controls& controls, Watts power) {
  const ClockRange& clocks = model.clocks;
  const Megahertz clock = controls.clocks_locked ? std::clamp(controls.lock_min, clocks.idle, clocks.max) : clocks.idle;
  return {.sm_clock = clock,
          .memory_clock = clocks.memory_idle,
          .voltage = model.power.voltage_floor,
          .power = power,
          .throttle = static_cast<std::uint32_t>(Throttle::idle)};
}

// What holds a busy GPU down: a clock, a power limit, and the limit's cause.
struct Ceiling {
  double clock = 1.0;
  Watts power;
  Throttle reason = Throttle::power_cap;
};

Ceiling ceiling_of(const GpuModel& model, const Controls& controls, Celsius temperature) {
  Ceiling ceiling{.power = controls.enforced_limit()};
  if (controls.clocks_locked) {
    ceiling.clock = std::clamp(relative(model, controls.lock_max), relative(model, model.clocks.min), 1.0);
  }
  if (temperature >= model.thermal.slowdown) {
    // The power that keeps it at this temperature and no hotter.
    const Watts cooled{(model.thermal.slowdown - model.thermal.ambient).value() / model.thermal.kelvins_per_watt};
    if (cooled < ceiling.power) {
      ceiling.power = cooled;
      ceiling.reason = Throttle::thermal;
    }
  }
  return ceiling;
}

}  // namespace

OperatingPoint settle(const GpuModel& model, const Controls& controls, const Demand& demand, Celsius temperature) {
  if (demand.kind == DemandKind::idle || (demand.kind == DemandKind::work && demand.busy <= 0.0)) {
    return idle_point(model, controls, model.power.idle);
  }
  const KernelCurve curve{model, demand, temperature};
  if (demand.kind == DemandKind::power && demand.power <= curve.waiting()) {
    return idle_point(model, controls, std::max(demand.power, model.power.idle));
  }
  const Ceiling ceiling = ceiling_of(model, controls, temperature);
  const double lowest = std::min(model.power.lowest_capped, ceiling.clock);
  const KernelPoint point = curve.within(ceiling.power, lowest, ceiling.clock);
  std::uint32_t reasons = ceiling.clock < 1.0 ? static_cast<std::uint32_t>(Throttle::locked_clock) : 0U;
  if (point.clock < ceiling.clock || point.power > ceiling.power) {
    reasons |= static_cast<std::uint32_t>(ceiling.reason);
  }

  // At the highest clock a step lasts 1, and kernels run for `busy` of it; the host's part fills the rest.
  const double busy = demand.kind == DemandKind::power ? 1.0 : std::min(demand.busy, 1.0);
  const double overlap = model.power.overlap;
  const double host = busy < 1.0 ? portable::pow(1.0 - portable::pow(busy, overlap), 1.0 / overlap) : 0.0;
  const double running = busy * point.time;
  const double step = step_time(running, host, overlap);
  const double share = running / step;
  return {.sm_clock = on_step(model.clocks, point.clock),
          .memory_clock = model.clocks.memory,
          .voltage = curve.voltage(point.clock),
          .power = point.power * share + curve.waiting() * (1.0 - share),
          .speed = 1.0 / step,
          .gpu_utilization = share,
          .memory_utilization = share * curve.memory() / point.time,
          .throttle = reasons};
}

Watts least_enforceable(const GpuModel& model, const Demand& demand, Celsius temperature) {
  Controls lowest = Controls::defaults(model);
  lowest.requested_limit = Watts{0};
  return settle(model, lowest, demand, temperature).power;
}

}  // namespace zeus::physics
