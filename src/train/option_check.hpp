// Refuses options of a training that make no sense. Pure; any thread.
#pragma once

#include <zeus/training_options.hpp>

namespace zeus::train {

// The same options, or an invalid_argument Error that says what is wrong with them.
TrainingOptions checked(TrainingOptions options);

}  // namespace zeus::train
