// Whether a counter itself looks at a part of the time only, as the sensor does that samples come from, and what it may
// have left out. Such a counter says of each tick what the sample at its end says, also where power changes from sample
// to sample; one that sees all of the time finds itself somewhere between the two samples then. Pure functions.
#pragma once

#include "measure/history.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// What is known at one tick; two of them say what may have been missed in between.
struct Unseen {
  bool suspected = false;
  JoulesSquared variance;      // running total: of where each change came, were each by itself
  double cycle = 0;            // ticks after which samples may be repeating; they miss the same in each cycle then
  Joules level;                // what the sample before the tick says of the time unseen
  JoulesSquared own_variance;  // of an edge within the time unseen
};

// What a change between the samples of two ticks adds to the running total: it came anywhere in the time unseen.
JoulesSquared unseen_between(const Tick& before, const Tick& tick, const std::optional<SensorTiming>& timing);

// By all of the history, at its last tick.
Unseen unseen_now(const History& history);

// The same at a tick of the history.
Unseen unseen_at(const Unseen& now, const History& history, const Tick& tick);

}  // namespace zeus::measure
