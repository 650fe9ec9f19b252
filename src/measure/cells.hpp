// Consecutive stretches of time whose mean power is known, and what may have happened within one of them, judged by its
// neighbours. Plain values and a pure function; call it from any thread.
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
  Watts doubt;  // standard deviation, from the brackets of the ticks

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

// How the load behaves, by the whole history.
struct Habits {
  JoulesSquared wave;    // mean square of the energy that a wave within ticks has beyond its mean
  JoulesSquared wander;  // variance that independent changes of power add to the energy of a tick
  double chance = 0;     // how often two adjacent cells of the same power are two mixtures that agree by chance
  double steps = 0;      // mean number in a tick, if they come at any time
};

// How the energy within a cell may stray from the path drawn through it: by changes or by a step, whichever is more.
struct Deviation {
  Seconds length;  // of the cell
  Watts range;     // of powers: the energy strays no faster than that
  // A wave faster than the cell, with any phase at either end: mean square of its energy beyond its mean.
  JoulesSquared wave;
  // Independent changes of power: the variance that they add to the energy of so long a time.
  JoulesSquared wander;
  // A step of known height anywhere: variance of the energy in the cell's middle.
  JoulesSquared step;
  double share = 1;  // of the cases in which the energy strays at all

  [[nodiscard]] Doubt at(Seconds into) const;
  // Of the energy over a part of the cell of this length.
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

// There are three grades. A cell at a power that the load keeps is flat, and a cell between two such powers is a step
// from one to the other, except for the share of cases in which this is chance. A cell that a single step would
// explain, like its neighbours, strays by such a step, because these powers may be mixtures themselves. Of any other
// cell only the mean is known: it strays by the usual changes, or by a step if that is more. Before the first cell
// there may have been any power.
CellPath path_within(const Cells& cells, std::size_t here, Instant at, const Habits& habits);

}  // namespace zeus::measure
