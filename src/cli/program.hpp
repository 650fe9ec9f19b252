// The `zeus` program as a function: reads the command line, runs the command, maps failures to one line and an exit
// code.
#pragma once

#include "cli/command.hpp"
#include "command_line/command_syntax.hpp"

#include <span>
#include <string>
#include <string_view>

namespace zeus::cli {

// The whole syntax of the command line; reading it sets `chosen`. The arguments outlive the result, which must stay
// where it was made.
command_line::CommandSyntax program_syntax(const Commands& commands, Command*& chosen);

// `arguments` follow the program's name. Nothing is thrown: every failure ends as a line on context.err.
int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context);

}  // namespace zeus::cli
