#include "job_library/live_meter.hpp"

#include "records/energy.hpp"

#include <zeus/error.hpp>

namespace zeus::job_library {

namespace {

constexpr Seconds settling{1};

}  // namespace

jobs::Try::Taken LiveMeter::taken(const Measurement& measurement) const {
  jobs::Try::Taken taken{.gpus = {}, .time = measurement.time(), .unknown = {}};
  for (const auto& [index, measured] : measurement.gpu_energy) {
    if (measured.energy) {
      taken.gpus.push_back({.gpu = devices_.uuids().at(index), .energy = *measured.energy});
    } else {
      taken.unknown = measured.reason;
    }
  }
  return taken;
}

jobs::Try::Taken LiveMeter::settle(std::string_view window) {
  return taken(devices_.monitor()->settle(devices_.monitor()->end(window), settling));
}

void LiveMeter::cancel(std::string_view window) noexcept {
  try {
    devices_.monitor()->cancel(window);
  } catch (const Error&) {
    // The monitor was reset, and the window with it.
    return;
  }
}

}  // namespace zeus::job_library
