// The value of a training session on four virtual V100s: the quality of the limit it applies, the cost of profiling
// over twenty epochs, and the accuracy of predictions from observing. Functions of a seed; one thread each.
#pragma once

#include "tests/support/virtual_training.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <string_view>

namespace zeus::test {

struct ChoiceOutcome {
  double cost = 0;        // of the applied setting, relative to the best limit's
  double extra_time = 0;  // of profiling, relative to twenty epochs at the applied setting
  double steps = 0;       // of profiling
};

// With epochs of this length; if they are longer than profiling, they are not trained to their end, as nothing more
// would change. The steps of both sides have the same scatter.
ChoiceOutcome choose_and_account(std::string_view workload, Seconds epoch, std::uint64_t seed);

struct ObserverOutcome {
  double time_error = 0;  // of the prediction, relative to a run that applied the optimum
  double energy_error = 0;
  double cost_error = 0;
  bool within_interval = false;  // the cost
  bool only_in_slices = false;   // no setter was called outside of slices, and the limits were put back
};

ObserverOutcome observe(std::string_view workload, Seconds epoch, std::uint64_t seed);

}  // namespace zeus::test
