// Reads a command line as its commands have declared it. Main thread only.
#pragma once

#include "command_line/command_syntax.hpp"

#include <span>
#include <string>

namespace zeus::command_line {

// What the user asked for: to run a command, whose variables are set, or to see its help or the version.
struct Asked {
  enum class For { run, help, version };

  For what = For::run;
  const CommandSyntax* command = nullptr;  // the innermost command named
};

// `words` follow the program's name. Throws an invalid_argument Error, with advice, for words that mean nothing.
Asked read_command_line(const CommandSyntax& program, std::span<const std::string> words);

}  // namespace zeus::command_line
