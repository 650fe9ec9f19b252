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
  // It was not seen, but placed a period before the next one: it is off as far as that one, and by this bracket.
  std::optional<Seconds> placed_within;
  bool came_in_rhythm = true;  // false of a counter's very beginning
  // The tick before it in the history is the one before it in time; between any other two there were no readings.
  bool follows = false;
  // What the power sensor was updated to with the tick: the mean power over its window, which ends here.
  std::optional<Watts> sample;
  // Of the first one in a row: the mean of the samples of the time just before it, without readings.
  std::optional<Watts> before;
  // Running total: what a counter that looks at a part of the time may have left out up to here (unseen.hpp).
  JoulesSquared unseen;

  [[nodiscard]] Instant middle() const { return earliest + (latest - earliest) * 0.5; }
  [[nodiscard]] Seconds width() const { return latest - earliest; }
};

}  // namespace zeus::measure
