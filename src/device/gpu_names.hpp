// GPUs by the names that people type: the number that programs know one by (inventory.hpp), or its whole UUID.
// Pure functions; any thread.
#pragma once

#include "device/inventory.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::device {

// The GPU of this name, hidden or not; null if there is none.
const DiscoveredGpu* find_gpu(const Inventory& inventory, std::string_view name);

// The numbers of the named GPUs, in that order. Errors list what there is: a number that no GPU has is not_found; any
// other word that names none, a hidden GPU, and a GPU named twice are invalid_argument.
std::vector<int> numbers_of(const Inventory& inventory, std::span<const std::string> names);

}  // namespace zeus::device
