// A training loop on a virtual GPU, in virtual time, as the just-in-time profiler sees it: the profiler's choice, the
// cost of profiling, and the true values. Pure functions of their arguments; callable from any thread.
#pragma once

#include "optimize/power_limit/profiler.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "records/limit_profile.hpp"
#include "records/power_setting.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::research {

// The training and its GPU. The model must outlive its users.
struct TrainingLoad {
  const physics::GpuModel* gpu = nullptr;
  physics::Demand demand;
  Seconds step;  // the time of a training step at the highest clock without a limit
  std::uint64_t steps_per_epoch = 10'000;
};

// How far the run deviates from the settled values.
struct Disturbance {
  double scatter = 0.02;         // standard deviation of each step's time, and independently of its energy
  double drift = 0.05;           // part by which time and energy of a step grow until the machine is warm
  Seconds warm_after{60};        // time constant of that
  Seconds limit_latency{0.015};  // until a new setting is in force
};

struct ProfilingOutcome {
  std::optional<records::PowerSetting> optimum;
  std::uint64_t steps = 0;  // until the limit was found
  Seconds time;             // what those took
  Joules energy;
};

// Trains until the profiler is done, or for `most_steps` steps. Slices are read from the GPU's own energy counter.
ProfilingOutcome run_profiling(const TrainingLoad& load, optimize::Profiler& profiler, const Disturbance& disturbance,
                               std::uint64_t seed, std::uint64_t most_steps = 100'000);

// A step under a setting once everything has settled and is warm.
records::LimitProfile settled_step(const TrainingLoad& load, const records::PowerSetting& setting);

}  // namespace zeus::research
