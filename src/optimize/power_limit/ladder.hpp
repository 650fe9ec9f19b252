// How a job's time and power change along one knob, from the highest setting down. This bounds what an unmeasured
// setting could reach at best. It uses these facts: under a falling power limit or clock a step takes longer, at a
// growing rate (time is convex in both); if a lower limit holds nothing back, neither does a higher one; mean power
// falls no faster than the limit, and no faster than the cube of the clock. Pure; any thread may call it.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace zeus::optimize {

enum class Knob { limit, clock };

// One setting of the knob, and what a step takes there, if known.
struct Rung {
  double height = 0.0;  // W of a limit, MHz of a clock; 0 if the driver sets it, as on the first rung of clocks
  Watts limit;
  bool capped = false;  // whether the limit held the clock down during the measurement
  std::optional<records::LimitProfile> step;
};

// The least time and power of a step at `rungs[index]`, which is not measured, given those that are. Nothing if no rung
// above it is measured, because then it could be anything. Rungs go from the highest down.
std::optional<records::LimitProfile> best_case(Knob knob, std::span<const Rung> rungs, std::size_t index);

}  // namespace zeus::optimize
