// How the power setting of a training is chosen: the goal, the amount of profiling, and the predicted result. Plain
// values; copy them freely between threads.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/power.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>

namespace zeus {

// The goals of the choice.
struct LeastTime {};
struct LeastEnergy {};
// The least cost, as the training computes it (TrainingOptions::eta).
struct LeastCost {};
// The least energy among the settings that are at most `factor` times as slow as the fastest, with this confidence.
struct MaxSlowdown {
  double factor = 1.1;
  double confidence = 0.95;
};
// The user's own choice: returns the index of the profile to use, of at least one. It is called often, with measured
// and with possible profiles, so it must be a pure function of its argument.
using PowerSelector = std::function<std::size_t(std::span<const LimitProfile>)>;
using PowerGoal = std::variant<LeastCost, LeastTime, LeastEnergy, MaxSlowdown, PowerSelector>;

// Measures slices only while they can still change the choice; ends when the choice is within `tolerance` of the best.
struct AdaptiveProfiling {
  double tolerance = 0.01;
  std::uint32_t warm_up = 10;  // steps before the first measured one
};
// Measures every limit from the highest down: first steps to settle, then measured steps.
struct SweepProfiling {
  std::uint32_t settle = 10;
  std::uint32_t measure = 40;
};
using PowerProfiling = std::variant<AdaptiveProfiling, SweepProfiling>;

// What the run would have taken at the optimum; uncertainties are half-widths of 95 % intervals.
struct TrainingPrediction {
  PowerSetting setting = {};
  Seconds time = {};
  Seconds time_uncertainty = {};
  Energy energy = {};
  Joules cost = {};
  Joules cost_uncertainty = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("setting", self.setting);
    fields("time", self.time);
    fields("time_uncertainty", self.time_uncertainty);
    fields("energy", self.energy);
    fields("cost", self.cost);
    fields("cost_uncertainty", self.cost_uncertainty);
  }
};

}  // namespace zeus
