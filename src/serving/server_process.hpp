// Finds the GPUs of a server on this machine: those that the process that listens at its port uses, or a process that
// it has started. Reads /proc and asks the driver; main thread.
#pragma once

#include "base/file_tree.hpp"
#include "device/inventory.hpp"

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace zeus::serving {

// The processes that listen at this TCP port, as far as this user may see them.
std::set<std::int64_t> listeners_at(const FileTree& machine, std::uint16_t port);

// The numbers of the visible GPUs that any of these processes or their descendants use.
std::vector<int> gpus_of(const FileTree& machine, const device::Inventory& inventory,
                         const std::set<std::int64_t>& processes);

// Both, for a server at "host:port". Throws a not_found Error that asks for the GPUs if the server is on another
// machine, or if none is found.
std::vector<int> gpus_of_server(const FileTree& machine, const device::Inventory& inventory,
                                std::string_view host_port);

}  // namespace zeus::serving
