// The lines with which a training script, or a library in it, may report its progress itself instead of having its
// output read: see docs/run.md. Pure functions; any thread.
//
//   step [N]       N more steps have ended (1 without a number)
//   epoch [N]      N more epochs have ended
//   metric VALUE   the model's metric now
#pragma once

#include "trial/progress.hpp"

#include <optional>
#include <string_view>

namespace zeus::run {

// The variable with the name of the file to write these lines to.
inline constexpr const char* reports_variable = "ZEUS_PROGRESS";

// Empty for a line that is none of these.
std::optional<trial::Progress> parse_report(std::string_view line);

}  // namespace zeus::run
