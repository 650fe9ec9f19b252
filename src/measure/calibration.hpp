// What a history says of the load: what it is likely to draw after the last tick, and how far the placing of edges goes
// astray. Each tick is predicted from those before it, as if it had not come yet, and each sample from the two ticks
// around it, as if there were none; what that missed lately is the doubt of the next edge. Computed once a tick. A
// plain value and a pure function; call it from any thread.
#pragma once

#include "measure/cells.hpp"
#include "measure/doubt.hpp"
#include "measure/history.hpp"
#include "measure/unseen.hpp"

#include <zeus/units.hpp>

namespace zeus::measure {

// How far a prediction of energy is off after a time: at first as far as power differs from what was predicted; later
// by a power law between what was missed where a sample begins and at the tick's end. Its exponent is 0 for a wave, of
// which no more is missing later than sooner, 2 for a power that was wrong from the start, 3 for a step at any time.
struct Spread {
  WattsSquared level;
  JoulesSquared at_tick;
  Seconds tick;  // a tick's length
  double exponent = 2;
  JoulesSquared wave;  // at least
  double excess = 0;   // kurtosis of what was missed, beyond a normal one's

  [[nodiscard]] Doubt over(Seconds time) const;
  // From one prediction to another of the same tick: a wave may then take from the one what it gives to the other.
  [[nodiscard]] Doubt between(Seconds time) const;
};

struct Calibration {
  Watts power;    // after the last tick; 0 with all its spread where nothing is known of it
  Spread spread;  // of that prediction
  Habits habits;  // within ticks
  Unseen unseen;
};

Calibration calibrate(const History& history);

}  // namespace zeus::measure
