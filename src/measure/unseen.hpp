// Whether a counter sees only a part of the time, like the sensor behind the samples, and how much energy it may have
// missed. Such a counter shows in each tick the power of the sample at its end, even if power changes from sample to
// sample. A counter that sees all of the time then shows a power between the two samples. Pure functions.
#pragma once

#include "measure/history.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// The state at one tick; two of them give the energy that may have been missed in between.
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
