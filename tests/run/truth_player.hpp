// Plays a script's recurrences through the code of `zeus run`, on a virtual clock, with a virtual GPU in this process
// and a store in memory: lines, expressions, steps and epochs, limits, energy, the driver and the job are the real
// ones. The statements after each recurrence are kept with the true values. One thread.
#pragma once

#include "tests/run/truth_script.hpp"
#include "tests/run/truth_told.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zeus::truth {

// The error of a command's cost without Zeus, under a constant limit and with steps that do not scatter, relative to
// the cost by the law: the larger relative error of energy and time, over all batch sizes. This tests the instrument
// itself.
double error_of_law(Script script);

// Leases are recorded in `folder`, which all scripts of a process share.
Played play(const Script& script, const test::TemporaryFolder& folder);

}  // namespace zeus::truth
