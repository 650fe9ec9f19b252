// What `zeus measure` prints. Pure functions.
#pragma once

#include "device/gpu_identity.hpp"

#include <zeus/measure.hpp>

#include <span>
#include <string>
#include <vector>

namespace zeus::cli {

// Of GPUs by their numbers, those that are not measured as well.
using GpusByNumber = std::vector<device::GpuIdentity>;

// The form that docs/cli.md promises, on one line without its end.
std::string measure_json(const Measurement& measurement, const GpusByNumber& gpus, int exit_code);
// A summary for a person; `command` as it was given.
std::string measure_text(const Measurement& measurement, const GpusByNumber& gpus, const std::string& command);

// The same of the runs that ended well where several were asked for, and of the exit code of the last: each of them,
// and the mean, which takes two.
std::string measure_json(std::span<const Measurement> runs, const GpusByNumber& gpus, int exit_code);
// Of two or more.
std::string measure_text(std::span<const Measurement> runs, const GpusByNumber& gpus, const std::string& command);

}  // namespace zeus::cli
