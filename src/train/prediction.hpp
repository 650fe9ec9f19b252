// What a run would have taken at the optimum, from what it took and what the profile says of the two settings. Pure
// functions; any thread.
#pragma once

#include "optimize/cost/energy_time_cost.hpp"
#include "records/power_profile.hpp"
#include "records/power_setting.hpp"
#include "train/account.hpp"

#include <zeus/training_report.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace zeus::train {

struct ObservedRun {
  Parts parts;                                 // of all epochs; steps under what was found, slices, and the rest
  std::optional<records::PowerSetting> found;  // what was in force outside of slices, where it was one
  std::uint32_t gpus = 0;
};

// All of its steps at the optimum; the rest at the optimum too where it draws more than that allows. Nothing, and why,
// when it cannot be said.
std::optional<TrainingPrediction> predict(const ObservedRun& run, const records::PowerProfile& profile,
                                          const std::optional<records::PowerSetting>& optimum,
                                          const optimize::EnergyTimeCost& price, std::string& why_not);

}  // namespace zeus::train
