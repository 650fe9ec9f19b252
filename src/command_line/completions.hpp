// The scripts with which shells complete a command line, made from what the commands have declared. Pure function.
#pragma once

#include "command_line/command_syntax.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zeus::command_line {

// The shells that have a script.
std::vector<std::string> shells_with_completions();

// The script for one of them.
std::string completions(const CommandSyntax& program, std::string_view shell);

}  // namespace zeus::command_line
