// Reads a command line by what the commands have declared. Main thread only.
#pragma once

#include "command_line/command_syntax.hpp"

#include <span>
#include <string>

namespace zeus::command_line {

// What was asked for: that a command runs, its variables set, or that its help, or the version, is shown.
struct Asked {
  enum class For { run, help, version };

  For what = For::run;
  const CommandSyntax* command = nullptr;  // the innermost that was named
};

// The words after the program's name. What they cannot mean is an invalid_argument Error that says what was meant.
Asked read_command_line(const CommandSyntax& program, std::span<const std::string> words);

}  // namespace zeus::command_line
