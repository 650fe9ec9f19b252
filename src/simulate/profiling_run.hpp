// A training loop on a virtual GPU, in virtual time, as the just-in-time profiler sees it: what the profiler chooses
// there, what profiling cost, and what the truth was. Pure functions of their arguments; callable from any thread.
#pragma once

#include "optimize/power_limit/profiler.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "records/limit_profile.hpp"
#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::simulate {

// What is trained where. The model outlives what uses it.
struct TrainingLoad {
  const physics::GpuModel* gpu = nullptr;
  physics::Demand demand;
  Seconds step;  // what a training step takes at the highest clock without a limit
  std::uint64_t steps_per_epoch = 10'000;
};

// How far what happens is from the settled truth.
struct Disturbance {
  double scatter = 0.02;         // standard deviation of each step's time, and independently of its energy
  double drift = 0.05;           // part by which time and energy of a step grow until the machine is warm
  Seconds warm_after{60};        // time constant of that
  Seconds limit_latency{0.015};  // until a new setting is in force
};

struct ProfilingOutcome {
  std::optional<records::PowerSetting> optimum;
  std::uint64_t steps = 0;  // until it was found
  Seconds time;             // what those took
  Joules energy;
};

// Trains until the profiler is done, or for `most_steps`. Slices are read from the GPU's own energy counter.
ProfilingOutcome run_profiling(const TrainingLoad& load, optimize::Profiler& profiler, const Disturbance& disturbance,
                               std::uint64_t seed, std::uint64_t most_steps = 100'000);

// What a step takes under a setting once everything has settled and is warm.
records::LimitProfile settled_step(const TrainingLoad& load, const records::PowerSetting& setting);

}  // namespace zeus::simulate
