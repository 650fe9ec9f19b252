// What a run would have taken at the optimum, computed from what it took and from the profile of the two settings. Pure
// functions; any thread may call them.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "records/power_profile.hpp"

#include <zeus/energy.hpp>
#include <zeus/power_choice.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::optimize {

// What a part of the run took, over all GPUs; its energy if known.
struct Taken {
  Seconds time;
  std::optional<Energy> energy;
  std::uint64_t steps = 0;
};

struct ObservedRun {
  Taken steps;                                 // under `found`
  Taken slices;                                // while settings were tried
  Taken rest;                                  // evaluation and the like
  std::optional<records::PowerSetting> found;  // the setting in force outside of slices, if it was always the same
  std::uint32_t gpus = 0;
};

// Predicts all steps at the optimum. The rest of the run changes too if it draws more power than the optimum allows.
// Returns nothing, and sets `why_not`, if it cannot be predicted.
std::optional<TrainingPrediction> predict(const ObservedRun& run, const records::PowerProfile& profile,
                                          const std::optional<records::PowerSetting>& optimum,
                                          const EnergyTimeCost& price, std::string& why_not);

}  // namespace zeus::optimize
