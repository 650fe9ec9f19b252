// The lease book of a program, put together: where records are on this machine, and the guardian that watches.
// For composition roots and the modules they hand their parts to; any thread.
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

// The guardian's program: what ZEUS_GUARDIAN names, or what lies where it is built or installed, seen from the folder
// `beside` that our program or library is in. A not_found Error that lists the places when it is in none of them.
std::filesystem::path find_guardian(const Environment& environment, const std::filesystem::path& beside);

// Errors as find_guardian() and make_state_folder(); with a lessor these come when a GPU is leased that it does not
// offer. `machine` is where /proc is.
LeaseBook open_lease_book(const Environment& environment, const FileTree& machine, const std::filesystem::path& beside,
                          std::vector<device::DiscoveredGpu> gpus, Clock& clock, Lends lends = Lends::nothing,
                          std::shared_ptr<Lessor> lessor = nullptr);

}  // namespace zeus::control
