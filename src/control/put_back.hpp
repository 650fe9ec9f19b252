// Puts a GPU back to what was found on it, and sees that it holds. Called while working on the GPU; safe from any
// thread, as the device is.
#pragma once

#include "control/lease_record.hpp"
#include "device/backend.hpp"

#include <optional>
#include <string>

namespace zeus::control {

// What could not be put back and why, for a person; nothing when all is as it was found. What already is so is not set
// again. Each setting is tried, also when another one fails.
std::optional<std::string> put_back(const Found& found, const device::DiscoveredGpu& gpu);

}  // namespace zeus::control
