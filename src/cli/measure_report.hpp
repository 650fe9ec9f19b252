// What `zeus measure` prints. With rates, the energy of all GPUs is given as money and CO2, too. Pure functions.
#pragma once

#include "device/gpu_identity.hpp"
#include "records/energy_rates.hpp"

#include <zeus/measure.hpp>

#include <span>
#include <string>
#include <vector>

namespace zeus::cli {

// Indexed by number, with those that are not measured.
using GpusByNumber = std::vector<device::GpuIdentity>;

// The form that docs/cli.md promises, on one line without its end.
std::string measure_json(const Measurement& measurement, const GpusByNumber& gpus, int exit_code,
                         const records::EnergyRates& rates = {});
// A summary for a person. `command` is shown as it was given.
std::string measure_text(const Measurement& measurement, const GpusByNumber& gpus, const std::string& command,
                         const records::EnergyRates& rates = {});

// The same for several runs: each run that ended well, their mean (from two on), and the exit code of the last run.
std::string measure_json(std::span<const Measurement> runs, const GpusByNumber& gpus, int exit_code,
                         const records::EnergyRates& rates = {});
// For two runs or more.
std::string measure_text(std::span<const Measurement> runs, const GpusByNumber& gpus, const std::string& command,
                         const records::EnergyRates& rates = {});

}  // namespace zeus::cli
