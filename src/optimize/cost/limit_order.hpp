// What is certain of power limits whatever was measured: a lower one neither makes a training faster nor lets it draw
// more. Slices that say otherwise have erred. Pure functions; safe from any thread.
#pragma once

#include "records/limit_profile.hpp"

#include <span>
#include <vector>

namespace zeus::optimize {

// Limits are ascending everywhere here.

// Whether a lower limit is faster than a higher one, by more than slices may err.
bool contradicts_itself(std::span<const records::LimitProfile> limits);
// Leaves out as few as it takes to have no such contradiction: first those that contradict the most others, and of
// these the lowest.
void drop_contradictions(std::vector<records::LimitProfile>& limits);
// The same limits with the closest times that do not rise, and the closest powers that do not fall, from limit to
// limit: neighbours that are the wrong way round have their mean.
std::vector<records::LimitProfile> in_order(std::span<const records::LimitProfile> limits);

}  // namespace zeus::optimize
