// Results of bench/fit_physics.cpp on the published power traces: the power curves of V100 and A40, and a training
// profile for each workload and batch size in the traces. It writes fitted.cpp. Constants; callable from any thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/training_profile.hpp"

#include <span>
#include <string_view>

namespace zeus::physics {

struct FittedProfile {
  std::string_view workload;  // "dataset/network/optimizer"
  int batch_size;
  TrainingProfile profile;
};

// Without idle power and leakage, which the traces do not show.
PowerCurve fitted_v100();
PowerCurve fitted_a40();

// In ascending order of workload and batch size.
std::span<const FittedProfile> v100_profiles();
std::span<const FittedProfile> a40_profiles();

}  // namespace zeus::physics
