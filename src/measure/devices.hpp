// The devices that a program measures: those that the visibility variables leave it, in their order. One thread.
#pragma once

#include "base/environment.hpp"
#include "device/backend.hpp"
#include "device/inventory.hpp"
#include "measure/sampler.hpp"

#include <span>

namespace zeus::measure {

Sampler::Devices visible_devices(const device::Inventory& inventory, const Environment& environment);
Sampler::Devices visible_devices(std::span<device::Backend* const> backends, const Environment& environment);

}  // namespace zeus::measure
