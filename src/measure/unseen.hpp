// Whether a counter measures only part of the time, like the sensor behind the samples, and how much energy it may have
// missed. In each tick, such a counter shows the power of the sample at the tick's end, even if power changes from
// sample to sample. A counter that measures all the time would then show a power between the two samples. Pure
// functions.
#pragma once

#include "measure/history.hpp"

#include <zeus/units.hpp>

#include <optional>

namespace zeus::measure {

// The state at one tick; two of them give the energy that may have been missed in between.
struct Unseen {
  bool suspected = false;
  JoulesSquared variance;      // running total for the changes' unknown moments, if those are independent
  double cycle = 0;            // ticks after which samples may repeat; each cycle then misses the same energy
  Joules level;                // the energy of the unmeasured time at the power of the tick's sample
  JoulesSquared own_variance;  // added by an edge within the unmeasured time
};

// What a change between the samples of two ticks adds to the running total, since it may have come at any moment of the
// unmeasured time.
JoulesSquared unseen_between(const Tick& before, const Tick& tick, const std::optional<SensorTiming>& timing);

// The state at the last tick, from the whole history.
Unseen unseen_now(const History& history);

// The same at a tick of the history.
Unseen unseen_at(const Unseen& now, const History& history, const Tick& tick);

}  // namespace zeus::measure
