// The devices that a program measures: the GPUs that the visibility variables leave it, by their numbers, and all CPU
// packages. Pure; any thread.
#pragma once

#include "device/inventory.hpp"
#include "measure/sampler.hpp"

namespace zeus::measure {

Sampler::Devices visible_devices(const device::Inventory& inventory);

}  // namespace zeus::measure
