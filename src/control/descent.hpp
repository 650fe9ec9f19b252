// Whether one process has started another, directly or indirectly. It follows the kernel's current chain of parents,
// never a claim by a process. Any thread may call it.
#pragma once

#include "base/file_tree.hpp"
#include "base/holder.hpp"

#include <cstdint>

namespace zeus::control {

// Whether the process `pid` descends from `ancestor`. The caller makes sure that `pid` lives before and after the call,
// and that `ancestor` lives. `machine` is where /proc is. Returns false if the chain cannot be followed: it is broken
// (a process in it has ended, and its children have a new parent), it is longer than 64, a PID namespace lies between
// the two, or the kernel has no pidfd.
bool descends_from(const FileTree& machine, std::int64_t pid, const Holder& ancestor);

}  // namespace zeus::control
