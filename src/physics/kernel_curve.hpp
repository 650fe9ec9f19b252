// How the power and the time of kernels of one kind change with the clock, on one GPU model at one temperature. Clocks
// are relative to the highest. A value that refers to its model, which outlives it; callable from any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <zeus/units.hpp>

namespace zeus::physics {

// One step: its time relative to the highest clock, and the power meanwhile.
struct KernelPoint {
  double clock = 1.0;
  double time = 1.0;
  Watts power;
};

class KernelCurve {
 public:
  // For a demand of the kind work or power.
  KernelCurve(const GpuModel& model, const Demand& demand, Celsius temperature);

  [[nodiscard]] double voltage(double clock) const;
  [[nodiscard]] KernelPoint at(double clock) const;
  // The highest clock between `low` and `high` with at most `cap`; `low` if there is none.
  [[nodiscard]] KernelPoint within(Watts cap, double low, double high) const;

  // The power while no kernel runs.
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

// The time of a step in which kernels take `kernels` and the host takes `host`, which partly overlap: their norm of the
// order `overlap`, where 1 means one after the other and infinity means side by side.
double step_time(double kernels, double host, double overlap);

}  // namespace zeus::physics
