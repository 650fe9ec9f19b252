#include "train/option_check.hpp"

#include "optimize/cost/energy_time_cost.hpp"
#include "optimize/power_limit/goal.hpp"
#include "train/stopping.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

namespace zeus::train {

TrainingOptions checked(TrainingOptions options) {
  check_stopping(options);
  static_cast<void>(optimize::selector_of(options.goal, optimize::EnergyTimeCost{options.eta, Watts{1}}));
  if (!(options.lease_term > Seconds{0}) || !(options.collective_patience > Seconds{0}) ||
      !(options.profiling.drift_tolerance >= 0)) {
    throw Error{ErrorKind::invalid_argument, "a time or a tolerance among the options of the training is out of range",
                "give a lease term and a patience above 0, and a drift tolerance of at least 0"};
  }
  if (!(options.profiling.limit_step > Watts{0})) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the step between power limits is {} W", options.profiling.limit_step.value()),
                "give one above 0, such as 25 W"};
  }
  return options;
}

}  // namespace zeus::train
