// Fills `{{ name }}` in commands and host names with parameters. `{{ replace name "a" "b" }}` is the value with every
// "a" replaced by "b". Pure functions; any thread.
#pragma once

#include "sweep/queue_entry.hpp"

#include <string>
#include <vector>

namespace zeus::sweep {

// Throws an invalid_argument Error for braces that are not closed, and for a name that no parameter has.
std::string filled(const std::string& text, const std::vector<Parameter>& parameters);

}  // namespace zeus::sweep
