// Curves through measured points, for profiles that are too noisy to use point by point. Of many noisy measurements the
// luckiest look best, and a plan made of them promises what it cannot keep; a curve has no lucky points. A pure
// function on plain values.
#pragma once

#include "records/computation_graph.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace zeus::optimize::pipeline {

enum class ProfileFit {
  none,         // what was measured, point by point
  smooth,       // time and energy as smooth functions of the clock
  exponential,  // cost as a * exp(b * time) + c, as in existing tools: for comparison
};

std::string_view to_string(ProfileFit fit);
std::optional<ProfileFit> profile_fit_from(std::string_view name);
std::span<const ProfileFit> all_profile_fits();

// The graph with each profile's points moved onto the curve, at unchanged clocks. A profile stays unchanged if it has
// fewer than five different clocks, or if no plausible curve fits (a time or energy below zero, a lower clock that is
// faster). With `exponential`, only points that no other one beats in both time and cost remain, at their measured
// times.
records::ComputationGraph with_fit(records::ComputationGraph graph, ProfileFit fit, Watts blocking_power);

}  // namespace zeus::optimize::pipeline
