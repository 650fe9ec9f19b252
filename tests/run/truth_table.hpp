// Zeus's statements about many scripts, compared with the true values: coverage, errors, shares of unknown values, and
// the floors. Pure; any thread.
#pragma once

#include "tests/run/truth_told.hpp"

#include <string>
#include <vector>

namespace zeus::truth {

// One script: its figures, and a line for each recurrence.
std::string text_of(const Played& played);

// By kinds of scripts, and by their output.
std::string table_of(const std::vector<Played>& all);
// By recurrences since the script changed.
std::string changes_of(const std::vector<Played>& all);

// How well the scripts in real time kept to their law.
std::string lateness_of(const std::vector<Played>& all);

// A line for each script in which something was thrown.
std::string failures_of(const std::vector<Played>& all);
// A line for each violated floor, for scripts without changes; empty if all hold. Floors are the present results, and
// rise as the accounting improves.
std::string broken_floors(const std::vector<Played>& all);
// The same of scripts that are processes.
std::string broken_floors_of_processes(const std::vector<Played>& all);
// The same for scripts whose user only gives the metric's expression.
std::string broken_floors_of_footing(const std::vector<Played>& all);

}  // namespace zeus::truth
