// What `zeus measure` prints. Pure functions.
#pragma once

#include <zeus/measure.hpp>

#include <string>

namespace zeus::cli {

// The form that docs/cli.md promises, on one line without its end.
std::string measure_json(const Measurement& measurement, int exit_code);
// A summary for a person; `command` as it was given.
std::string measure_text(const Measurement& measurement, const std::string& command);

}  // namespace zeus::cli
