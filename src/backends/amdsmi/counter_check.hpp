// Whether an AMD energy counter can be trusted. Some drivers show a counter that stands still, runs backwards, counts
// in another unit than it reports, or belongs to a die that does not measure. None of them reports that. Pure
// functions.
#pragma once

#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::backends::amdsmi {

struct CounterObservation {
  Joules first;
  Joules last;
  Seconds time;                // between them
  Joules resolution;           // of one count, as the driver reports it
  std::optional<Watts> power;  // what the power sensor showed meanwhile
};

// Nothing if it can be trusted, and otherwise why not. The bounds are wide (a tenth to ten times what the power sensor
// shows): they should find a broken counter, not a coarse sensor.
std::optional<Failure> judge_counter(const CounterObservation& observation);

}  // namespace zeus::backends::amdsmi
