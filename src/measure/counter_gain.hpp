// What two readings of a cumulative counter say was added between them. A pure function; call it from any thread.
#pragma once

#include "device/energy_counter.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// With one wrap undone. Nothing when the counter went back without a wrap, or further than any device could have
// drawn: it was reset.
std::optional<Joules> counter_gain(const device::EnergyCounter& counter, Joules before, Joules after, Seconds elapsed);

}  // namespace zeus::measure
