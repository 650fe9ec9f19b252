// What to optimize a power limit (or a clock) for: a selector picks one of several profiled points. Users may supply
// their own. Selectors are values without state; safe from any thread.
#pragma once

#include "records/limit_profile.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace zeus::optimize {

// The index of the profile to use. It is never asked about none.
using Selector = std::function<std::size_t(std::span<const records::LimitProfile>)>;

// The fastest; of equals the one that uses least energy.
Selector select_time();
// The one that uses least energy; of equals the fastest.
Selector select_energy();
// The least eta-weighted cost, with the largest profiled limit as MAXPOWER. An eta outside [0, 1] is an
// invalid_argument Error.
Selector select_zeus_cost(double eta);
// The least energy among those at most `factor` times as slow as the fastest. A factor below 1 is an invalid_argument
// Error.
Selector select_max_slowdown(double factor);

// Asks the selector, and refuses an answer out of range: an invalid_argument Error, as an empty `profiles` is.
std::size_t select(const Selector& selector, std::span<const records::LimitProfile> profiles);

}  // namespace zeus::optimize
