// A program of commands as a function: it reads the command line, runs the command, and turns failures into one line
// and an exit code. Main thread only.
#pragma once

#include "command_line/command.hpp"
#include "command_line/command_syntax.hpp"

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace zeus::command_line {

struct Streams {
  std::ostream& out;
  std::ostream& err;
};

// The command that the command line has chosen. Only `failure_code` may be called before there is one.
struct Chosen {
  std::function<int()> run;
  std::function<int()> failure_code;
};

// `arguments` follow the program's name. Nothing is thrown: every failure ends as a line on streams.err.
int run_program(const CommandSyntax& program, std::string_view version, std::span<const std::string> arguments,
                Streams streams, const Chosen& chosen);

// Reading the command line sets `chosen` (Options::add_commands).
template <typename Context>
int run_program(const CommandSyntax& program, std::string_view version, std::span<const std::string> arguments,
                CommandWith<Context>*& chosen, Context& context) {
  return run_program(program, version, arguments, {context.out, context.err},
                     {.run = [&] { return chosen->run(context); },
                      .failure_code = [&] { return chosen != nullptr ? chosen->failure_code() : exit_failure; }});
}

}  // namespace zeus::command_line
