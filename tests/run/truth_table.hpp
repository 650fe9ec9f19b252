// What Zeus said of many scripts, beside the truth: coverage, errors, shares of what is unknown, and the floors that
// hold. Pure; any thread.
#pragma once

#include "tests/run/truth_told.hpp"

#include <string>
#include <vector>

namespace zeus::truth {

// One script: its figures, and a line for each recurrence.
std::string text_of(const Played& played);

// By kinds of scripts, and by how they print.
std::string table_of(const std::vector<Played>& all);
// By recurrences since the script changed.
std::string changes_of(const std::vector<Played>& all);

// How well those in real time kept to their law.
std::string lateness_of(const std::vector<Played>& all);

// A line for each script in which something was thrown.
std::string failures_of(const std::vector<Played>& all);
// A line for each floor that does not hold, of scripts that stay as they are; empty when all do. Floors are what holds
// today: they rise as the account gets right.
std::string broken_floors(const std::vector<Played>& all);
// The same of scripts that are processes.
std::string broken_floors_of_processes(const std::vector<Played>& all);
// The same of scripts of which the user gives no expression but the metric's.
std::string broken_floors_of_footing(const std::vector<Played>& all);

}  // namespace zeus::truth
