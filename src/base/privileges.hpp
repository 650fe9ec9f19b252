// The privileges of this process, and how it gives up those that it does not need. Giving up acts on the whole process;
// do it before starting other threads.
#pragma once

#include "base/file_tree.hpp"

#include <span>

namespace zeus {

// True if this process has the capability (CAP_SYS_ADMIN) in effect now. `machine` is where /proc is; any thread.
bool has_capability(const FileTree& machine, int capability);

// Keeps only these of the kernel's capabilities (CAP_SYS_ADMIN). All others are given up for good, and for programs
// started later as well. A system Error if that fails.
void keep_capabilities(std::span<const int> kept);

// From now on a crash writes no core file, and no unprivileged user can look into this process.
void forbid_core_dumps();

}  // namespace zeus
