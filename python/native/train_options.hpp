// Converts what Python passes to a zeus::Training for the C++ interface: options from a mapping, and Python objects as
// the functions and the collective that a Training calls. Everything is called with the GIL held. The results take the
// GIL themselves when they are called, and a thread without it may call and destroy them.
#pragma once

#include "bindings.hpp"

#include <zeus/train.hpp>

namespace zeus::python {

// The names are those of TrainingOptions, with the unit at the end; zeus.optimizer._training lists them all. A missing
// option keeps its default; an unknown name is a KeyError.
TrainingOptions training_options_of(const Object& values);

// In the training, an exception of a call into Python is a failure, which ends no training. One that is to end the
// program (KeyboardInterrupt, SystemExit) is kept as well, and raised here, by the same thread.
void raise_interruption();

}  // namespace zeus::python
