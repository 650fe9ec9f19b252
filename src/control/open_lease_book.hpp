// Puts together the lease book of a program: the folder of records on this machine, and the guardian that watches. For
// composition roots and the modules that they hand their parts to; any thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "device/backend.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace zeus::control {

// The guardian's program: the one that ZEUS_GUARDIAN names, or the one that is built or installed in a place relative
// to `beside`, the folder of our program or library. A not_found Error lists the places if it is in none of them.
std::filesystem::path find_guardian(const Environment& environment, const std::filesystem::path& beside);

// Errors as for find_guardian() and make_state_folder(); with a lessor, they come when a GPU is leased that the lessor
// does not offer. `machine` is where /proc is.
LeaseBook open_lease_book(const Environment& environment, const FileTree& machine, const std::filesystem::path& beside,
                          std::vector<device::DiscoveredGpu> gpus, Clock& clock, Lends lends = Lends::nothing,
                          std::shared_ptr<Lessor> lessor = nullptr);

}  // namespace zeus::control
