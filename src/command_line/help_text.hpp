// What `--help` prints for a command. Pure function; any thread.
#pragma once

#include "command_line/command_syntax.hpp"

#include <string>

namespace zeus::command_line {

std::string help_text(const CommandSyntax& command);

// First steps, for a user who has typed the program's name alone.
std::string first_steps(const CommandSyntax& program);

}  // namespace zeus::command_line
