// The devices that a program measures: those that the visibility variables leave it, in their order. One thread.
#pragma once

#include "base/environment.hpp"
#include "device/backend.hpp"
#include "device/inventory.hpp"
#include "measure/sampler.hpp"

#include <span>
#include <vector>

namespace zeus::measure {

// What in the variables does not mean what it may seem to is added to `problems`.
std::vector<device::DiscoveredGpu> visible_gpus(const device::Inventory& inventory, const Environment& environment,
                                                std::vector<device::Problem>& problems);

Sampler::Devices visible_devices(std::span<device::Backend* const> backends, const Environment& environment);

}  // namespace zeus::measure
