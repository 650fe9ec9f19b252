// How a GPU's power sensor averages, which no driver reports: published measurements by architecture.
// Pure functions; call them from any thread.
#pragma once

#include "device/gpu_identity.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// A power sample is the mean over the last `window` before each update, which come every `period`.
struct SensorTiming {
  Seconds period;
  Seconds window;
};

// Nothing if it is unknown.
std::optional<SensorTiming> sensor_timing(const device::GpuIdentity& identity);

}  // namespace zeus::measure
