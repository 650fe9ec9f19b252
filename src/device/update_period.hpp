// How often an energy counter moves, found by watching it: no driver tells, and it is what bounds the error of a short
// measurement. Blocks its caller's thread; the GPUs may be read by others meanwhile.
#pragma once

#include "base/clock.hpp"
#include "device/gpu.hpp"

#include <span>
#include <vector>

namespace zeus::device {

// One period for each GPU: the median of the gaps between moves of its counter, to about a millisecond. All are watched
// at the same time, until each has moved often enough and for `patience` at most.
std::vector<Reading<Seconds>> watch_update_periods(std::span<const Gpu* const> gpus, Clock& clock,
                                                   Seconds patience = 1_s);

}  // namespace zeus::device
