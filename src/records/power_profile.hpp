// What is done with power profiles (zeus/power.hpp): joining, writing and reading them.
// Pure functions; call them from any thread.
#pragma once

#include "records/json_reader.hpp"
#include "records/power_measurement.hpp"

#include <zeus/power.hpp>

#include <string>
#include <string_view>

namespace zeus::records {

using zeus::PowerProfile;

// What two runs know together: settings measured by both get the mean of the two, weighted by their certainty, and the
// uncertainty that leaves. Refuses (invalid_argument Error) profiles of another GPU, another number of them or another
// batch size. The result is complete when either is.
PowerProfile merge(const PowerProfile& a, const PowerProfile& b);

// One line of JSON, and back. What is not such a profile (a missing key, a wrong type, a value that is not finite, a
// time or energy that is not above zero, the same setting twice) is a corrupt_data Error.
std::string to_json(const PowerProfile& profile);
PowerProfile power_profile_from_json(std::string_view text);
// What one that was read as part of something else still needs: its measurements in order, and a corrupt_data Error
// where they cannot be.
void put_in_order(PowerProfile& profile, const JsonPlace& place);

}  // namespace zeus::records
