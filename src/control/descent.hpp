// Whether a process is among those that another one has started: by the chain of parents, as the kernel has it now, and
// not by anything that a process says of itself. Any thread.
#pragma once

#include "base/file_tree.hpp"
#include "base/holder.hpp"

#include <cstdint>

namespace zeus::control {

// Whether the process `pid`, which the caller knows to live before and after, descends from `ancestor`, who lives.
// `machine` is where /proc is. False where that cannot be made out: a chain that is broken (each link has ended, and
// its children are somebody else's now) or longer than 64, a namespace of processes between the two, a kernel without
// pidfd.
bool descends_from(const FileTree& machine, std::int64_t pid, const Holder& ancestor);

}  // namespace zeus::control
