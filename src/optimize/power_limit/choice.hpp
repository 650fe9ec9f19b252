// The way from measurements to a choice, the same for every plan. Pure functions; callable from any thread.
#pragma once

#include "optimize/cost/selector.hpp"
#include "optimize/power_limit/slice.hpp"
#include "records/power_measurement.hpp"
#include "records/power_profile.hpp"

#include <optional>
#include <span>

namespace zeus::optimize {

// The means of one slice.
records::PowerMeasurement measurement_of(const Slice& slice);

// What the selector takes of them; nothing of none.
std::optional<records::PowerSetting> choose(const Selector& selector,
                                            std::span<const records::PowerMeasurement> measurements);

// Refuses what no step can take: a time or energy that is not finite and above zero, an uncertainty below zero or not
// finite, a share outside 0..1. An invalid_argument Error that names the setting.
void check(const SliceReading& reading, const records::PowerSetting& setting);

}  // namespace zeus::optimize
