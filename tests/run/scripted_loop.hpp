// A script's training (scripted_training.hpp) as a user's loop with zeus::Job, on a virtual clock, with a virtual GPU
// in this process. It marks its steps unless the script's output shows none. One thread.
#pragma once

#include "base/random.hpp"
#include "tests/run/scripted_training.hpp"
#include "tests/support/virtual_machine.hpp"

#include <zeus/job.hpp>

#include <cstddef>

namespace zeus::truth {

// Trains until the try is over, or to the end of the script.
void train_in_loop(Try& attempt, const Script& script, std::size_t arm, test::VirtualMachine& machine, Random& draws,
                   ScriptedTraining::Tell tell);

}  // namespace zeus::truth
