// Puts a GPU's settings back to those found on it, and checks that they are in force. Call it while working on the GPU,
// from any thread.
#pragma once

#include "control/lease_record.hpp"
#include "device/backend.hpp"

#include <optional>
#include <string>

namespace zeus::control {

// Returns what could not be put back and why, for messages; nothing if all is as it was found. Skips settings that are
// already right. Tries each setting, even if another one fails.
std::optional<std::string> put_back(const Found& found, const device::DiscoveredGpu& gpu);

}  // namespace zeus::control
