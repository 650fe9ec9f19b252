// What is known of a job's steps under the power settings of one kind of GPU: what the just-in-time profiler saves, so
// that the next recurrence, another process or another node need not measure again.
// Plain values; copy them freely between threads.
#pragma once

#include "records/power_measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

struct PowerProfile {
  // What the measurements hold for; profiles of something else are not comparable.
  std::string gpu;                          // product name
  std::uint32_t gpus = 1;                   // how many of them share a step
  std::optional<std::uint64_t> batch_size;  // nothing where the job has no such notion
  // Whether the profiler was done; otherwise it was interrupted, and what is here can be continued from.
  bool complete = false;
  // In the order in which they are offered to a selector: limits, then clocks, each from the highest down.
  std::vector<PowerMeasurement> measurements;

  friend bool operator==(const PowerProfile&, const PowerProfile&) = default;
};

// What two runs know together: settings measured by both get the mean of the two, weighted by their certainty, and the
// uncertainty that leaves. Refuses (invalid_argument Error) profiles of another GPU, another number of them or another
// batch size. The result is complete when either is.
PowerProfile merge(const PowerProfile& a, const PowerProfile& b);

// One line of JSON, and back. What is not such a profile (a missing key, a wrong type, a value that is not finite, a
// time or energy that is not above zero, the same setting twice) is a corrupt_data Error.
std::string to_json(const PowerProfile& profile);
PowerProfile power_profile_from_json(std::string_view text);

}  // namespace zeus::records
