// What Python gives a zeus::Training, as the C++ interface wants it: options out of a mapping, and Python objects as
// the functions and the collective that a Training calls. Everything is called with the GIL held; what comes out takes
// the GIL itself when it is called, and may be called and destroyed by a thread that has none.
#pragma once

#include "bindings.hpp"

#include <zeus/train.hpp>

namespace zeus::python {

// The names are those of TrainingOptions, with units at their ends; zeus.optimizer._training spells them all. What is
// missing keeps its default; a name that is not known is a KeyError.
TrainingOptions training_options_of(const py::dict& values);

}  // namespace zeus::python
