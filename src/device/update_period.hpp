// How often an energy counter moves, found by watching it: no driver reports it, and it bounds the error of a short
// measurement. Blocks the calling thread; other threads may read the GPUs meanwhile.
#pragma once

#include "base/clock.hpp"
#include "device/gpu.hpp"

#include <span>
#include <vector>

namespace zeus::device {

// One period for each GPU: the median gap between moves of its counter, to about a millisecond. Watches all at the same
// time, until each has moved often enough, for `patience` at most.
std::vector<Reading<Seconds>> watch_update_periods(std::span<const Gpu* const> gpus, Clock& clock,
                                                   Seconds patience = 1_s);

}  // namespace zeus::device
