// What policy `lookahead` assumes, in one place. `policy_tables sensitivity` measures the effect of halving and
// doubling each. Plain values.
#pragma once

#include "optimize/batch_size/change_detector.hpp"
#include "optimize/batch_size/epoch_prior.hpp"

#include <zeus/units.hpp>

namespace zeus::optimize {

struct LookaheadTuning {
  // A job is expected to recur as many times again as it has so far, and at least this many times.
  double least_horizon = 16.0;
  // How much more an epoch is assumed to cost at batch sizes above all those measured, and at those below, which use a
  // GPU less well: natural logarithms per octave.
  double cost_per_octave_up = -0.1;
  double cost_per_octave_down = 0.25;
  // The standard deviation of the cost at an unmeasured batch size, per octave from a measured one.
  double cost_spread = 0.25;
  // How much cheaper the best limit may prove, in natural logarithms, if its neighbours were not measured.
  double limit_spread = 0.1;
  // A trial is not evaluated if all that it could save is less than this share of one run.
  double least_improvement = 0.01;
  // Profiling limits beforehand takes this long for each limit, or an equal share of one epoch if that is less.
  // Profiling them during the first epoch of a run makes that epoch cost about this share more.
  Seconds profiling_time{5.0};
  double profiling_epoch = 0.15;
  // Knowing all limits instead of some saves about this share of a run.
  double limits_gain = 0.01;
  // What may be spent on looking at a batch size again, as shares of a run: the allowance for every recurrence since it
  // last ran, and what every look counts as in addition to its expected loss.
  double curiosity = 0.0015;
  double least_look = 0.1;
  // The belief is computed again once this share of an arm's runs is new since the last time.
  double news = 0.05;
  ChangeDetector::Tuning change;
  EpochPrior epochs;
};

}  // namespace zeus::optimize
