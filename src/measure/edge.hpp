// Where an energy counter would stand at one instant, and what that depends on; two of them make the energy of a
// window. Plain values.
#pragma once

#include "base/clock.hpp"

#include <zeus/units.hpp>

#include <cstdint>

namespace zeus::measure {

struct Edge {
  Instant at;
  Joules total;
  std::uint64_t epoch = 0;
  // The tick before the instant. A settled edge lies between it and the next one; any other lies after the last tick
  // seen, and its total is a prediction.
  std::uint64_t tick = 0;
  bool settled = false;
  // How the total moves when one of the two ticks came later than thought, and how well each one's time is known.
  Watts lower_weight;
  Watts upper_weight;
  Seconds lower_doubt;
  Seconds upper_doubt;
  // Settled: where between the two ticks, from 0 to 1, and how far (standard deviation, in the middle) the energy may
  // stray from what is drawn between them.
  double fraction = 0;
  Joules stray;
  // Not settled: time since the tick, and the standard deviation of the power predicted since then.
  Seconds elapsed;
  Watts power_doubt;
  // Of integrated power readings: the variance (J^2) that has gathered up to here.
  double held_variance = 0;
};

struct EnergyBetween {
  Joules value;
  Joules doubt;  // standard deviation
};

// The energy from `begin` to `end`, both of the same counter and epoch; what their errors share cancels.
EnergyBetween energy_between(const Edge& begin, const Edge& end);

}  // namespace zeus::measure
