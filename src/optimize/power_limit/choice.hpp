// From measurements to a choice, in the same way for every plan. Pure functions; any thread may call them.
#pragma once

#include "optimize/cost/selector.hpp"
#include "optimize/power_limit/slice.hpp"
#include "records/power_measurement.hpp"
#include "records/power_profile.hpp"

#include <optional>
#include <span>

namespace zeus::optimize {

// The means over one slice.
records::PowerMeasurement measurement_of(const Slice& slice);

// The setting that the selector chooses; nothing if there are no measurements.
std::optional<records::PowerSetting> choose(const Selector& selector,
                                            std::span<const records::PowerMeasurement> measurements);

// Refuses readings that are impossible for a step: a time or energy that is not finite and above zero, an uncertainty
// that is negative or not finite, a share outside 0..1. Throws an invalid_argument Error that names the setting.
void check(const SliceReading& reading, const records::PowerSetting& setting);

}  // namespace zeus::optimize
