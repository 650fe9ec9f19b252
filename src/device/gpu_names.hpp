// GPUs by the names that people give them: the number that programs know one by (inventory.hpp), or its whole UUID.
// Pure functions; any thread.
#pragma once

#include "device/inventory.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::device {

// The one of this name, hidden ones as well; none where there is no such.
const DiscoveredGpu* find_gpu(const Inventory& inventory, std::string_view name);

// The numbers of the GPUs that are named, in that order. Errors say what there is: a number that no GPU has is
// not_found; another word that names none, a GPU that is hidden from programs, and one that is named twice are
// invalid_argument.
std::vector<int> numbers_of(const Inventory& inventory, std::span<const std::string> names);

}  // namespace zeus::device
