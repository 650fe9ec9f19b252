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
  Watts most_power;  // the most that the device may draw

  void add(const Cell& cell) { at[count++] = cell; }
};

// How the load behaves, judged by the whole history.
struct Habits {
  JoulesSquared wave;    // mean square of the energy that a wave within ticks has beyond its mean
  JoulesSquared wander;  // variance that independent changes of power add to the energy of a tick
  double chance = 0;     // share of adjacent cells of the same power that are mixtures and agree by chance
  double steps = 0;      // mean number of steps in a tick, if they come at random times
};

// How far the energy within a cell may stray from the path drawn through it: by a wave and independent changes, or by
// a step, whichever is more.
struct Deviation {
  Seconds length;  // of the cell
  Watts range;     // of the power: the energy strays no faster than that
  // A wave faster than the cell, with any phase at either end: mean square of its energy beyond its mean.
  JoulesSquared wave;
  // Independent changes of power: the variance that they add to the energy of the whole cell.
  JoulesSquared wander;
  // A step of known height at an unknown time: variance of the energy at the cell's middle.
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

// The path through the cell `here`, by one of three rules:
// - A cell at a power that the load keeps is flat, and a cell between two such powers is a step from one to the other.
//   In a share of the cases, this agrees by chance.
// - A cell that a single step explains, and whose neighbours a single step explains, strays by such a step: the powers
//   on both sides may be mixtures themselves.
// - Of any other cell only the mean is known. It strays by the usual changes, or by a step if that is more.
// Before the first cell there may have been any power.
CellPath path_within(const Cells& cells, std::size_t here, Instant at, const Habits& habits);

}  // namespace zeus::measure
