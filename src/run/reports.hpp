// The lines that a training script, or a library in it, may report its progress with, where it rather speaks for itself
// than be read: see docs/run.md. Pure functions; any thread.
//
//   step [N]       so many steps more are over (1 without a number)
//   epoch [N]      so many epochs more are over
//   metric VALUE   what the model achieves
#pragma once

#include "run/progress.hpp"

#include <optional>
#include <string_view>

namespace zeus::run {

// The variable that names the file to write these lines to.
inline constexpr const char* reports_variable = "ZEUS_PROGRESS";

// Nothing for a line that is none of these.
std::optional<Progress> parse_report(std::string_view line);

}  // namespace zeus::run
