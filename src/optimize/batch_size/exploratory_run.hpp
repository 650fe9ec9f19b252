// What it is worth to run another batch size than the best known one, once, and where to stop such a run. Pure
// functions of a belief; safe from any thread.
#pragma once

#include "optimize/batch_size/epoch_belief.hpp"

#include <cstddef>

namespace zeus::optimize {

struct ExploratoryRun {
  std::size_t arm = 0;
  double epoch_cost = 0.0;
  double fallback = 0.0;   // the expected cost of a run of the best known batch size, its start left out
  double start = 0.0;      // what is paid once more where it is given up: what any run takes beside its epochs
  double horizon = 0.0;    // how many runs what is learned will serve
  int most_epochs = 0;     // that the run may take
  int allowed_epochs = 0;  // that the job allows any run
  double reached = 0.0;    // how many runs of the arm did within these
  double missed = 0.0;     // and how many did not
};

// How many epochs runs that miss the target waste for each that reaches it, where each has `allowed` of them. How often
// they miss it is what the belief expects of one run, and what was seen of the others.
double wasted_epochs(double reached, double missed, double mean, double variance, int allowed);

struct ExploratoryValue {
  double value = 0.0;  // what the run is expected to be worth beyond running the best known batch size
  int max_epochs = 0;  // where to stop it
};

// Backward induction over the epoch at which the run would be stopped: it goes on while that is expected to cost less,
// what is learned included, than falling back.
ExploratoryValue value_of(const ExploratoryRun& run, const EpochBelief& belief);

// What full knowledge of an arm, a run of which costs exp(log_cost) an epoch, could save of one run on average:
// E[(fallback - cost)+] for a lognormal cost.
double possible_improvement(const EpochBelief& belief, std::size_t arm, double log_cost, double fallback);

}  // namespace zeus::optimize
