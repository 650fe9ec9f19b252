// One advance of an energy counter, as far as it can be known from outside. A plain value.
#pragma once

#include "base/clock.hpp"
#include "measure/doubt.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>

namespace zeus::measure {

// The counter moved somewhere in (earliest, latest]: the last reading without the new value, and the first one with it.
struct Tick {
  std::uint64_t number = 0;  // those in a row are numbered without gaps
  Instant earliest;
  Instant latest;
  Joules total;  // what the counter shows from this tick on, with wraps undone, since the track began
  // Set if the tick was not seen but placed one period before the next one. It has the error of that one, plus this
  // bracket.
  std::optional<Seconds> placed_within;
  bool came_in_rhythm = true;  // false for the start of a counter
  // Whether the tick before it in the history is the one before it in time. If not, there were no readings in between.
  bool follows = false;
  // The power sensor's new value at this tick: the mean power over the sensor's window, which ends here.
  std::optional<Watts> sample;
  // For the first tick in a row: the mean of the driver's samples from just before it, when nothing was read.
  std::optional<Watts> before;
  // Running total: what a counter that measures only part of the time may have missed up to here (unseen.hpp).
  JoulesSquared unseen;

  [[nodiscard]] Instant middle() const { return earliest + (latest - earliest) * 0.5; }
  [[nodiscard]] Seconds width() const { return latest - earliest; }
};

}  // namespace zeus::measure
