// Operations on power profiles (zeus/power.hpp): merging, writing and reading. Pure functions; call them from any
// thread.
#pragma once

#include "records/json_reader.hpp"
#include "records/power_measurement.hpp"

#include <zeus/power.hpp>

#include <string>
#include <string_view>

namespace zeus::records {

using zeus::PowerProfile;

// The combined knowledge of two runs: for settings that both measured, the mean weighted by certainty, and the
// uncertainty that is left. An invalid_argument Error if GPU, number of GPUs or batch size differ. The result is
// complete if either is.
PowerProfile merge(const PowerProfile& a, const PowerProfile& b);

// One line of JSON, and back. Anything else (a missing key, a wrong type, a value that is not finite, a time or energy
// that is not above zero, the same setting twice) is a corrupt_data Error.
std::string to_json(const PowerProfile& profile);
PowerProfile power_profile_from_json(std::string_view text);
// Completes a profile that was read as part of something else: puts its measurements in order. A corrupt_data
// Error if an energy is not above zero, or a setting is there twice.
void put_in_order(PowerProfile& profile, const JsonPlace& place);

}  // namespace zeus::records
