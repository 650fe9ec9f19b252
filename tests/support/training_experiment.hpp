// What a training session is worth on four virtual V100s: how good the limit it applies is, what profiling costs over
// twenty epochs, and how well observing predicts. Functions of a seed; one thread each.
#pragma once

#include "tests/support/virtual_training.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <string_view>

namespace zeus::test {

struct ChoiceOutcome {
  double cost = 0;        // of the applied setting, relative to the best limit's
  double extra_time = 0;  // that profiling took, in parts of twenty epochs at the applied setting
  double steps = 0;       // of profiling
};

// With epochs of this length; those longer than profiling takes are not trained to their end, as nothing is left to be
// seen. The steps of both sides have the same scatter.
ChoiceOutcome choose_and_account(std::string_view workload, Seconds epoch, std::uint64_t seed);

struct ObserverOutcome {
  double time_error = 0;  // of the prediction, relative to a run that applied the optimum
  double energy_error = 0;
  double cost_error = 0;
  bool within_interval = false;  // the cost
  bool only_in_slices = false;   // no setter was called outside of them, and the limits were as found
};

ObserverOutcome observe(std::string_view workload, Seconds epoch, std::uint64_t seed);

}  // namespace zeus::test
