#include "measure/devices.hpp"

#include "device/visibility.hpp"

#include <algorithm>
#include <iterator>

namespace zeus::measure {

std::vector<device::DiscoveredGpu> visible_gpus(const device::Inventory& inventory, const Environment& environment,
                                                std::vector<device::Problem>& problems) {
  std::vector<device::VisibilityCandidate> candidates;
  for (const auto& found : inventory.gpus) {
    candidates.push_back({found.gpu->identity(), found.gpu->mig().optional().value_or(device::MigState{})});
  }
  std::vector<device::DiscoveredGpu> gpus;
  for (const auto vendor : {device::Vendor::nvidia, device::Vendor::amd}) {
    device::Visibility visibility = device::visible_gpus(candidates, vendor, environment);
    std::ranges::move(visibility.problems, std::back_inserter(problems));
    for (const auto& visible : visibility.gpus) {
      const auto& found = inventory.gpus[visible.candidate];
      // Slices of one GPU are one GPU here: no slice has a sensor of its own.
      if (std::ranges::find(gpus, found.gpu, &device::DiscoveredGpu::gpu) == gpus.end()) {
        gpus.push_back(found);
      }
    }
  }
  return gpus;
}

Sampler::Devices visible_devices(std::span<device::Backend* const> backends, const Environment& environment) {
  const device::Inventory inventory = device::take_inventory(backends);
  std::vector<device::Problem> said_elsewhere;
  Sampler::Devices devices;
  devices.cpus = inventory.cpus;
  for (const auto& found : visible_gpus(inventory, environment, said_elsewhere)) {
    devices.gpus.push_back(found.gpu);
  }
  return devices;
}

}  // namespace zeus::measure
