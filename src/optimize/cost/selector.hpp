// What a power limit (or a clock) is optimized for: a selector picks one of several profiled points. Users may supply
// their own. Selectors are values without state; any thread may call them.
#pragma once

#include "records/limit_profile.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace zeus::optimize {

// The index of the profile to use. It is never called with an empty list.
using Selector = std::function<std::size_t(std::span<const records::LimitProfile>)>;

// The fastest; of equal ones, the one with the least energy.
Selector select_time();
// The one with the least energy; of equal ones, the fastest.
Selector select_energy();
// The least eta-weighted cost, with the largest profiled limit as MAXPOWER. An eta outside [0, 1] is an
// invalid_argument Error.
Selector select_zeus_cost(double eta);
// The least energy among those that are at most `factor` times as slow as the fastest. A factor below 1 is an
// invalid_argument Error.
Selector select_max_slowdown(double factor);

// Calls the selector. An answer out of range, or an empty `profiles`, is an invalid_argument Error.
std::size_t select(const Selector& selector, std::span<const records::LimitProfile> profiles);

}  // namespace zeus::optimize
