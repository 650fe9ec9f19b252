// The shape of a job's time and power along one knob, from the highest setting down, used to say what a setting that
// was not measured could be at best. What is used: under a falling cap or clock a step takes longer, ever faster so
// (time is convex in either); a cap that holds nothing back at a lower setting holds nothing back at a higher one; mean
// power falls no faster than the cap, and no faster than with the cube of the clock. Pure; callable from any thread.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace zeus::optimize {

enum class Knob { limit, clock };

// One setting of the knob, and what a step takes there where that is known.
struct Rung {
  double height = 0.0;  // W of a limit, MHz of a clock; 0 for clocks left to the driver, the first rung of that knob
  Watts limit;
  bool capped = false;  // the limit held the clock down when this was measured
  std::optional<records::LimitProfile> step;
};

// The least time and energy that a step at `rungs[index]`, which is not measured, could take, given those that are;
// nothing when none is measured above it, so that it could be anything. Rungs are from the highest down.
std::optional<records::LimitProfile> best_case(Knob knob, std::span<const Rung> rungs, std::size_t index);

}  // namespace zeus::optimize
