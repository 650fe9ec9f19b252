// What `zeus measure` prints. Pure functions.
#pragma once

#include "device/gpu_identity.hpp"

#include <zeus/measure.hpp>

#include <string>
#include <vector>

namespace zeus::cli {

// Of GPUs by their numbers, those that are not measured as well.
using GpusByNumber = std::vector<device::GpuIdentity>;

// The form that docs/cli.md promises, on one line without its end.
std::string measure_json(const Measurement& measurement, const GpusByNumber& gpus, int exit_code);
// A summary for a person; `command` as it was given.
std::string measure_text(const Measurement& measurement, const GpusByNumber& gpus, const std::string& command);

}  // namespace zeus::cli
