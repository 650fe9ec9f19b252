// Whether one process has started another, directly or not: by the kernel's chain of parents as it is now, and not by
// anything that a process claims. Any thread.
#pragma once

#include "base/file_tree.hpp"
#include "base/holder.hpp"

#include <cstdint>

namespace zeus::control {

// Whether the process `pid` descends from `ancestor`. The caller knows that `pid` lives before and after the call, and
// that `ancestor` lives. `machine` is where /proc is. False if it cannot be found out: the chain is broken (a link has
// ended, and its children have another parent now) or longer than 64, there is a PID namespace between the two, or the
// kernel has no pidfd.
bool descends_from(const FileTree& machine, std::int64_t pid, const Holder& ancestor);

}  // namespace zeus::control
