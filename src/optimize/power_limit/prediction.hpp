// What a run would have taken at the optimum, from what it took and what the profile says of the two settings. Pure
// functions; any thread.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "records/power_profile.hpp"

#include <zeus/energy.hpp>
#include <zeus/power_choice.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::optimize {

// What a part of the run took, of all GPUs; its energy where that is known.
struct Taken {
  Seconds time;
  std::optional<Energy> energy;
  std::uint64_t steps = 0;
};

struct ObservedRun {
  Taken steps;                                 // under what was found
  Taken slices;                                // in which settings were tried
  Taken rest;                                  // evaluation and the like
  std::optional<records::PowerSetting> found;  // what was in force outside of slices, where it was one
  std::uint32_t gpus = 0;
};

// All of its steps at the optimum; the rest at the optimum too where it draws more than that allows. Nothing, and why,
// when it cannot be said.
std::optional<TrainingPrediction> predict(const ObservedRun& run, const records::PowerProfile& profile,
                                          const std::optional<records::PowerSetting>& optimum,
                                          const EnergyTimeCost& price, std::string& why_not);

}  // namespace zeus::optimize
