// The energy that a cumulative counter gained between two readings. A pure function; call it from any thread.
#pragma once

#include "device/energy_counter.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// With one wrap undone. Nothing if the counter was reset: it went back without a wrap, or gained more than any device
// could have drawn.
std::optional<Joules> counter_gain(const device::EnergyCounter& counter, Joules before, Joules after, Seconds elapsed);

}  // namespace zeus::measure
