// Whether an AMD energy counter can be believed. Some drivers show one that stands still, runs backwards, counts in
// another unit than it says, or belongs to a die that does not measure; none of them says so. Pure functions.
#pragma once

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::backends::amdsmi {

struct CounterObservation {
  Joules first;
  Joules last;
  Seconds time;                // between them
  Joules resolution;           // of one count, as the driver says
  std::optional<Watts> power;  // what the power sensor said meanwhile
};

// Nothing where it can be believed, and otherwise why not. The bounds are wide (a tenth to ten times of what the power
// sensor says): they are to find a broken counter, not a coarse sensor.
std::optional<Failure> judge_counter(const CounterObservation& observation);

}  // namespace zeus::backends::amdsmi
