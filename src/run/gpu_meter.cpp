#include "run/gpu_meter.hpp"

#include "records/energy.hpp"

#include <zeus/error.hpp>

namespace zeus::run {

namespace {

constexpr Seconds settling{1};

}  // namespace

jobs::Try::Taken GpuMeter::taken(const Measurement& measurement) const {
  jobs::Try::Taken taken{.gpus = {}, .time = measurement.time(), .unknown = {}};
  for (const auto& [index, measured] : measurement.gpu_energy) {
    if (measured.energy) {
      taken.gpus.push_back({.gpu = gpus_.uuid(index), .energy = *measured.energy});
    } else {
      taken.unknown = measured.reason;
    }
  }
  return taken;
}

jobs::Try::Taken GpuMeter::settle(std::string_view window) {
  return taken(gpus_.monitor().settle(gpus_.monitor().end(window), settling));
}

void GpuMeter::cancel(std::string_view window) noexcept {
  try {
    gpus_.monitor().cancel(window);
  } catch (const Error&) {
    // The monitor was reset, and the window with it.
    return;
  }
}

}  // namespace zeus::run
