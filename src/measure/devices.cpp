#include "measure/devices.hpp"

namespace zeus::measure {

Sampler::Devices visible_devices(const device::Inventory& inventory) {
  Sampler::Devices devices;
  devices.cpus = inventory.cpus;
  for (const device::DiscoveredGpu& found : inventory.visible()) {
    devices.gpus.push_back(found.gpu);
  }
  return devices;
}

}  // namespace zeus::measure
