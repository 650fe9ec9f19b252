#include "measure/devices.hpp"

#include "device/visibility.hpp"

#include <algorithm>

namespace zeus::measure {

Sampler::Devices visible_devices(std::span<device::Backend* const> backends, const Environment& environment) {
  return visible_devices(device::take_inventory(backends), environment);
}

Sampler::Devices visible_devices(const device::Inventory& inventory, const Environment& environment) {
  std::vector<device::VisibilityCandidate> candidates;
  for (const auto& found : inventory.gpus) {
    candidates.push_back({found.gpu->identity(), found.gpu->mig().optional().value_or(device::MigState{})});
  }
  Sampler::Devices devices;
  devices.cpus = inventory.cpus;
  for (const auto vendor : {device::Vendor::nvidia, device::Vendor::amd}) {
    for (const auto& visible : device::visible_gpus(candidates, vendor, environment).gpus) {
      const auto& gpu = inventory.gpus[visible.candidate].gpu;
      // Slices of one GPU are one GPU here: no slice has a sensor of its own.
      if (std::ranges::find(devices.gpus, gpu) == devices.gpus.end()) {
        devices.gpus.push_back(gpu);
      }
    }
  }
  return devices;
}

}  // namespace zeus::measure
