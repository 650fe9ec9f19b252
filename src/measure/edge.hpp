// Where an energy counter that moves in ticks would have stood at an instant, and what that depends on. Two edges make
// the energy of a window. Between two ticks the energy is known. How it was spent there follows from the device's power
// samples, whose window is shorter than a tick on many GPUs, and from the levels of the neighbouring ticks (cells.hpp).
// After the last tick, power is predicted (calibration.hpp). Plain values and pure functions; call them from any
// thread.
#pragma once

#include "base/clock.hpp"
#include "measure/calibration.hpp"
#include "measure/cells.hpp"
#include "measure/doubt.hpp"
#include "measure/history.hpp"
#include "measure/unseen.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace zeus::measure {

struct Edge {
  // How the total moves if a tick came later than assumed, and the bracket in which it came.
  struct Timing {
    std::uint64_t tick = 0;
    Watts weight;
    Seconds bracket;
    Instant middle;  // of the bracket
  };

  Instant at;
  Joules total;
  std::uint64_t epoch = 0;
  // A settled edge lies between two ticks; any other lies after the last tick seen, and its total is a prediction.
  bool settled = false;
  std::array<Timing, 2> timing;  // the tick before the instant, and the next one
  // Since when the energy may stray: the beginning of a stretch of known mean power, or the last tick.
  Instant since;
  Deviation deviation;  // settled: how the energy may stray there
  Spread spread;        // not settled: how far the prediction may go astray
  Joules overdue;       // not settled, and the next tick is long due: a half-width for what may have changed meanwhile
  Unseen unseen;        // what the counter itself may have left out up to here
  // The edge's own variance, and, for integrated power readings, the variance accumulated up to here.
  JoulesSquared own;
  JoulesSquared gathered;
};

// Nothing if no tick is near enough, or the counter has stood still for long.
std::optional<Edge> edge(const History& history, const Calibration& calibration, Instant at);

// Whether the tick after the last one is so late at this instant that the counter no longer shows changes: it fails,
// or stands still.
bool is_overdue(const History& history, Instant at);

// Whether the last tick that the edge at this instant needs has come, so that waiting longer does not improve it.
bool is_final(const History& history, Instant at);

// The error of an energy by one tick, which may have come anywhere in its bracket.
struct TickError {
  Joules range;  // how far the energy moves as the tick moves through the bracket; below 0 if it falls
  Seconds bracket;
  Instant middle;
};

// How far the load may have led the energy astray at an edge, within a stretch that begins `before` the edge and ends
// `after` it; 0 if the energy at the edge is a prediction.
struct Stray {
  JoulesSquared variance;
  Seconds before;
  Seconds after;
};

struct EnergyBetween {
  Joules value;
  Joules half_width;  // of the interval that holds the true energy in 95 of 100 cases
  // What the interval consists of, for comparing it with those of other GPUs (shared_errors.hpp).
  Joules of_ticks;  // half-width of the part that comes from when the ticks came; the rest is what the load did
  bool settled = false;
  std::array<TickError, 4> ticks;
  std::array<Stray, 2> strays;  // at the beginning and at the end; all at the end if both lie in one stretch
};

// The energy from `begin` to `end`, both of the same counter and epoch. The part of their errors that they share
// cancels.
EnergyBetween energy_between(const Edge& begin, const Edge& end);

}  // namespace zeus::measure
