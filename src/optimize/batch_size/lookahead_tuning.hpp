// What policy `lookahead` takes for granted, in one place. `policy_tables sensitivity` measures what halving and
// doubling each of these does. Plain values.
#pragma once

#include "optimize/batch_size/change_detector.hpp"
#include "optimize/batch_size/epoch_prior.hpp"

#include <zeus/units.hpp>

namespace zeus::optimize {

struct LookaheadTuning {
  // A job is expected to recur this many times more at least, and otherwise as often again as it has so far.
  double least_horizon = 16.0;
  // What an epoch is assumed to cost more at batches larger than all that were measured, and at smaller ones, which use
  // a GPU less well: natural logarithms per octave.
  double cost_per_octave_up = -0.1;
  double cost_per_octave_down = 0.25;
  // The standard deviation of what it costs at a batch size that was not measured, per octave from one that was.
  double cost_spread = 0.25;
  // How much cheaper the best limit may turn out to be, in natural logarithms, where its neighbours were not measured.
  double limit_spread = 0.1;
  // A trial is not worth thinking about when all that it could bring is less than this share of one run.
  double least_improvement = 0.01;
  // Profiling limits beforehand takes this long for each, or an equal share of one epoch where that is less; profiling
  // them during a run's first epoch makes that epoch cost about this share more.
  Seconds profiling_time{5.0};
  double profiling_epoch = 0.15;
  // Knowing all limits instead of some saves about this share of a run.
  double limits_gain = 0.01;
  // What may be spent on looking at a batch size again, as shares of a run: for every recurrence since it was last
  // seen; and what every look counts as, beyond what it is expected to lose.
  double curiosity = 0.0015;
  double least_look = 0.1;
  // The belief is worked out again when an arm has had this share of its runs since the last time.
  double news = 0.05;
  ChangeDetector::Tuning change;
  EpochPrior epochs;
};

}  // namespace zeus::optimize
