// Keeps the numbers of GPUs that zeusd and its setter have in common stable when one of them cannot be opened.
// Otherwise all GPUs after it would get the numbers of others, and clients would set the wrong one. Pure functions; any
// thread.
#pragma once

#include "device/backend.hpp"

#include <vector>

namespace zeus::setter {

// `gpus` with a stand-in for each missing index that a driver skipped before other GPUs of the same vendor. The
// stand-in counts as lost until the daemon restarts.
std::vector<device::DiscoveredGpu> with_absent_gpus(std::vector<device::DiscoveredGpu> gpus);
// Whether the GPU is such a stand-in; nothing of it can be leased.
bool is_absent(const device::Gpu& gpu);

}  // namespace zeus::setter
