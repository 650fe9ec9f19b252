// Closes what a process of ours has inherited by accident. System calls only, so that a forked child may call it.
#pragma once

namespace zeus {

// Each descriptor from `first` on. Where the kernel has no close_range (before 5.9), or a filter refuses it, one by
// one, up to the 65,536th.
void close_from(int first) noexcept;

}  // namespace zeus
