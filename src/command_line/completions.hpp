// Scripts by which shells complete the words of a command line, made of what the commands have declared. Pure function.
#pragma once

#include "command_line/command_syntax.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::command_line {

// The shells there are scripts for.
std::vector<std::string> shells_with_completions();

// For one of them.
std::string completions(const CommandSyntax& program, std::string_view shell);

}  // namespace zeus::command_line
