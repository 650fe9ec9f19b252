// Facts about power limits that hold whatever was measured: a lower limit neither makes a training faster nor lets it
// draw more. Slices that show otherwise are wrong. Pure functions; any thread may call them.
#pragma once

#include "records/limit_profile.hpp"

#include <span>
#include <vector>

namespace zeus::optimize {

// Limits are in ascending order everywhere here.

// Whether a lower limit is faster than a higher one by more than slices may be wrong.
bool contradicts_itself(std::span<const records::LimitProfile> limits);
// Removes the fewest limits that leave no such contradiction: first those that contradict the most others, and of these
// the lowest.
void drop_contradictions(std::vector<records::LimitProfile>& limits);
// The same limits with the closest times that do not rise, and the closest powers that do not fall, from limit to
// limit. Neighbours in the wrong order get their mean.
std::vector<records::LimitProfile> in_order(std::span<const records::LimitProfile> limits);

}  // namespace zeus::optimize
