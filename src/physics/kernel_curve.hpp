// How kernels of one character draw power and take time as the clock changes, on one model of GPU at one temperature.
// Clocks are relative to the highest. A value that refers to its model, which outlives it; callable from any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <zeus/units.hpp>

namespace zeus::physics {

// A step: the time a piece of kernels takes relative to the highest clock, and what is drawn meanwhile.
struct KernelPoint {
  double clock = 1.0;
  double time = 1.0;
  Watts power;
};

class KernelCurve {
 public:
  // Of a demand of the kind work or power.
  KernelCurve(const GpuModel& model, const Demand& demand, Celsius temperature);

  [[nodiscard]] double voltage(double clock) const;
  [[nodiscard]] KernelPoint at(double clock) const;
  // The highest clock between `low` and `high` that draws no more than `cap`; `low` when there is none.
  [[nodiscard]] KernelPoint within(Watts cap, double low, double high) const;

  // What is drawn while no kernel runs.
  [[nodiscard]] Watts waiting() const { return waiting_; }
  [[nodiscard]] double memory() const { return memory_; }

 private:
  [[nodiscard]] Watts power(double clock) const;
  [[nodiscard]] double time(double clock) const { return (1.0 - memory_) / clock + memory_; }

  const PowerCurve* curve_;
  double memory_;
  Watts waiting_;
  Watts dynamic_;
};

// How long a step takes in which kernels take `kernels` and the host `host`, which partly overlap: their norm of the
// order `overlap`, 1 for one after the other, infinite for side by side.
double step_time(double kernels, double host, double overlap);

}  // namespace zeus::physics
