// One run on its host: gets GPUs of its own by lease, sets what the order asks for, runs the command, measures it and
// puts everything back. The command ends, with all that it has started, when the order's stream ends. The main thread
// of a program, once; it is given the order on descriptor `input` and writes to descriptor 1.
#pragma once

#include "run/training_gpus.hpp"

#include <string_view>

namespace zeus::sweep {

// `version` is this program's. Returns 0 once the result is written, whatever it is; errors before the order is read
// are thrown.
int run_order(const run::Place& place, std::string_view version, int input);

}  // namespace zeus::sweep
