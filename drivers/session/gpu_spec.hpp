// The virtual GPUs of a session, as written on a command line: "4xA100", "2xV100,1xH100", "1xA100@gain=0.945". Pure
// functions of strings; safe from any thread.
#pragma once

#include "physics/gpu_model.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::drivers {

inline constexpr std::size_t most_gpus = 64;

// The vendor whose library shows a GPU.
enum class Vendor : std::uint32_t { nvidia, amd };
inline constexpr std::size_t vendor_count = 2;

struct PlannedGpu {
  physics::GpuModel model;
  Vendor vendor = Vendor::nvidia;
  bool root_only = false;      // its setters refuse callers that are not administrators
  std::optional<Watts> limit;  // the initial limit, if it is not the default
};

// One model for each GPU, in order. Each group is COUNTxMODEL, or MODEL alone, with options after @: gain (the factor
// by which all readings of power and energy are off), full-time or part-time (what the energy counter integrates), amd
// (AMD's library shows it instead of NVIDIA's; the physics stays that of the model), root-only (setters refuse callers
// that are not administrators) and limit (the watts that an operator has set). A string that cannot be understood is an
// invalid_argument Error.
std::vector<PlannedGpu> parse_gpus(std::string_view spec);

}  // namespace zeus::drivers
