// Refuses impossible options of a training. Pure; any thread.
#pragma once

#include <zeus/training_options.hpp>

namespace zeus::train {

// Returns the same options, or throws an invalid_argument Error that says what is wrong with them.
TrainingOptions checked(TrainingOptions options);

}  // namespace zeus::train
