// What a history says about the load: the power to expect after the last tick, and how far the energy at an edge may be
// off. Each tick is predicted from the ticks before it, as if it had not come yet, and each sample from the two ticks
// around it, as if it were missing. The recent errors of these predictions are the uncertainty of the next edge.
// Computed once a tick. A plain value and a pure function; call it from any thread.
#pragma once

#include "measure/cells.hpp"
#include "measure/doubt.hpp"
#include "measure/history.hpp"
#include "measure/unseen.hpp"

#include <zeus/units.hpp>

namespace zeus::measure {

// How far a predicted energy is off after a time. At first the error grows with the difference between the power and
// the prediction. Later it follows a power law between the error where a sample begins and the error at the tick's end.
// The exponent is 0 for a wave, whose error does not grow; 2 for a power that was wrong from the start; 3 for a step at
// an unknown time.
struct Spread {
  WattsSquared level;
  JoulesSquared at_tick;
  Seconds tick;  // a tick's length
  double exponent = 2;
  JoulesSquared wave;  // the least error
  double excess = 0;   // kurtosis of the errors, minus that of a normal distribution

  [[nodiscard]] Doubt over(Seconds time) const;
  // Between two predictions within the same tick: a wave may lower one of them and raise the other.
  [[nodiscard]] Doubt between(Seconds time) const;
};

struct Calibration {
  Watts power;    // expected after the last tick; 0, with the full spread, if nothing is known
  Spread spread;  // of that prediction
  Habits habits;  // within ticks
  Unseen unseen;
};

Calibration calibrate(const History& history);

}  // namespace zeus::measure
