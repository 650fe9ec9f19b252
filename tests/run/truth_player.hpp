// Plays a script's recurrences through what `zeus run` has, on a virtual clock, with a virtual GPU in this process and
// a store in memory: lines, expressions, steps and epochs, limits, energy, the driver and the job are the real ones.
// What is said after each recurrence is kept beside what is true. One thread.
#pragma once

#include "tests/run/truth_script.hpp"
#include "tests/run/truth_told.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zeus::truth {

// How far a command that runs without Zeus, under a limit that stays and with steps that do not scatter, is off what
// the law says it costs: the greater relative error of energy and time, over all batch sizes. It is the instrument that
// is tested by that.
double error_of_law(Script script);

// Leases are written down in `folder`, which all scripts of a process share.
Played play(const Script& script, const test::TemporaryFolder& folder);

}  // namespace zeus::truth
