// The `zeus` program as a function: reads the command line, runs the command, maps failures to one line and an exit
// code.
#pragma once

#include "cli/command.hpp"

#include <span>
#include <string>
#include <string_view>

namespace zeus::cli {

// `arguments` are those after the program's name. Nothing is thrown: every failure ends as a line on context.err.
int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context);

}  // namespace zeus::cli
