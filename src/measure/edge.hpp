// Where an energy counter would stand at one instant, and what that depends on; two of them make the energy of a
// window. Plain values.
#pragma once

#include "base/clock.hpp"
#include "measure/cells.hpp"
#include "measure/doubt.hpp"
#include "measure/forecast.hpp"
#include "measure/unseen.hpp"

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
  // How the total moves when one of the two ticks came later than thought, and the bracket in which each one came.
  Watts lower_weight;
  Watts upper_weight;
  Seconds lower_bracket;
  Seconds upper_bracket;
  // Settled: the stretch of known mean power it lies in, where in it (0 to 1), and how the energy may stray there.
  Instant cell;
  double fraction = 0;
  Deviation deviation;
  // Not settled: the time since the tick, and how far the prediction may go astray.
  Seconds elapsed;
  Spread spread;
  // What the counter itself may have left out up to here.
  Unseen unseen;
  // The counter shows no less than this.
  Joules resolution;
  // Of integrated power readings: the variance (J^2) that has gathered up to here, and the edge's own.
  double held_variance = 0;
  double own_variance = 0;
};

struct EnergyBetween {
  Joules value;
  Doubt doubt;
};

// The energy from `begin` to `end`, both of the same counter and epoch; what their errors share cancels.
EnergyBetween energy_between(const Edge& begin, const Edge& end);

}  // namespace zeus::measure
