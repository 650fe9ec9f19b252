// Keeps the numbers of GPUs what they are where one of them cannot be opened: those after it would have other GPUs'
// numbers, and clients would set the wrong one. Pure functions; any thread.
#pragma once

#include "device/backend.hpp"

#include <vector>

namespace zeus::daemon {

// `gpus` with somebody in the place of each whose index a driver has left out before others of the same vendor: it
// counts as lost, until the daemon is started anew.
std::vector<device::DiscoveredGpu> with_absent_gpus(std::vector<device::DiscoveredGpu> gpus);
// Whether it is such a one, of which nothing can be leased.
bool is_absent(const device::Gpu& gpu);

}  // namespace zeus::daemon
