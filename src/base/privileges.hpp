// What this process may do beyond other users, and giving up what it does not need, which acts on the whole process:
// before other threads are started.
#pragma once

#include "base/file_tree.hpp"

#include <span>

namespace zeus {

// Whether this process has it (CAP_SYS_ADMIN) in effect now. `machine` is where /proc is; any thread.
bool has_capability(const FileTree& machine, int capability);

// The kernel's capabilities (CAP_SYS_ADMIN) that are to be kept, of those there are: all others are given up for good,
// also for programs that are started later. A system Error where that cannot be.
void keep_capabilities(std::span<const int> kept);

// From now on a crash writes no memory to the disk, and nobody without rights of their own looks into this process.
void forbid_core_dumps();

}  // namespace zeus
