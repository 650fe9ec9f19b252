// The expected benefit of running a batch size other than the best known one, once, and the epoch at which to stop such
// a run. Pure functions of a belief; any thread may call them.
#pragma once

#include "optimize/batch_size/epoch_belief.hpp"

#include <cstddef>

namespace zeus::optimize {

struct ExploratoryRun {
  std::size_t arm = 0;
  double epoch_cost = 0.0;
  double fallback = 0.0;   // the expected cost of a run at the best known batch size, without its start
  double start = 0.0;      // what a run costs besides its epochs; it is paid once more if the run is given up
  double horizon = 0.0;    // how many later runs use what this one teaches
  int most_epochs = 0;     // the most epochs that this run may take
  int allowed_epochs = 0;  // the most epochs that the job allows any run
  double reached = 0.0;    // runs of the arm that reached the target within these
  double missed = 0.0;     // runs of the arm that did not
};

// The epochs that runs waste by missing the target, for each run that reaches it, if each may take `allowed` epochs.
// The rate of misses is that of the runs seen, with the belief counted as one more run.
double wasted_epochs(double reached, double missed, double mean, double variance, int allowed);

struct ExploratoryValue {
  double value = 0.0;  // how much less the run is expected to cost, counting what it teaches, than a run of the best
                       // known batch size
  int max_epochs = 0;  // the epoch at which to stop it
};

// Backward induction over the epoch at which the run may be stopped: it goes on while the expected cost of going on,
// less what it teaches, is below the cost of falling back.
ExploratoryValue value_of(const ExploratoryRun& run, const EpochBelief& belief);

// How much one later run would cost less, on average, if the cost of the arm were known exactly: E[(fallback - cost)+]
// for a lognormal cost. An epoch of the arm costs exp(log_cost).
double possible_improvement(const EpochBelief& belief, std::size_t arm, double log_cost, double fallback);

}  // namespace zeus::optimize
