// Stretches of time whose mean power is known, one after another, and what may have happened within one of them, judged
// by its neighbours. Plain values and a pure function; call it from any thread.
#pragma once

#include "base/clock.hpp"
#include "measure/doubt.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstddef>

namespace zeus::measure {

struct Cell {
  Instant from;
  Instant to;
  Watts power;
  Watts doubt;  // standard deviation, by what is left open of when the ticks came

  [[nodiscard]] Seconds length() const { return to - from; }
};

struct Cells {
  static constexpr std::size_t most = 13;
  std::array<Cell, most> at;
  std::size_t count = 0;
  Seconds tick;      // the counter's period
  Watts most_power;  // that the device may draw

  void add(const Cell& cell) { at[count++] = cell; }
};

// What a load is seen to do, by all of the history.
struct Habits {
  JoulesSquared wave;    // mean square of what a wave within ticks takes from its mean
  JoulesSquared wander;  // variance that independent changes of power add to the energy of a tick
  double chance = 0;     // how often two cells in a row of the same power are two mixtures by chance
  double steps = 0;      // in a tick, on average, were they to come at any time
};

// How the energy may stray, within a cell, from what is drawn through it: as one or the other, whichever is more.
struct Deviation {
  Seconds length;  // of the cell
  Watts range;     // of powers: it strays no faster than that
  // A wave faster than the cell, with any phase at either end: mean square of what it takes from its mean.
  JoulesSquared wave;
  // Independent changes of power: the variance that they add to the energy of so long a time.
  JoulesSquared wander;
  // A step of known height anywhere: variance of the energy in the cell's middle.
  JoulesSquared step;
  double share = 1;  // of the cases in which it does

  [[nodiscard]] Doubt at(Seconds into) const;
  // Of the energy over so long a part of the cell.
  [[nodiscard]] Doubt between(Seconds apart) const;

 private:
  [[nodiscard]] Doubt bridged(double wave_part, double reach, double bridge) const;
};

// From a cell's beginning to an instant within it.
struct CellPath {
  Joules energy;
  Watts power;  // at the instant
  Deviation deviation;
};

// Three grades. A cell at a power that the load is seen to keep is flat, and one between two such powers is a step from
// one to the other, but for the share of cases in which this is chance. A cell that a single step would explain, as it
// would its neighbours, though these powers may be mixtures themselves, strays by such a step. Of any other nothing is
// known but its mean: it strays as the usual wave does, or by a step if that is more. Before the first cell there may
// have been any power.
CellPath path_within(const Cells& cells, std::size_t here, Instant at, const Habits& habits);

}  // namespace zeus::measure
