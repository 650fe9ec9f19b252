// What may be written to a terminal, and how a stream is recognized as one. Pure except for declaring; any thread.
#pragma once

#include "base/environment.hpp"

#include <string>
#include <string_view>

namespace zeus::command_line {

class Options;

struct TerminalStyle {
  bool live = false;    // the cursor can move, so a picture can be drawn over the previous one
  bool colour = false;  // and bold type
};

// `when` is the value of --color: "auto", "always" or "never". With "auto", colours are used on a terminal unless TERM
// calls it dumb or NO_COLOR is set.
TerminalStyle terminal_style(std::string_view when, const Environment& environment, bool is_terminal);

// Whether output to standard output, or to standard error, is to have colours.
bool colour_on_output(std::string_view when, const Environment& environment);
bool colour_on_errors(std::string_view when, const Environment& environment);

// Declares --color for a command.
void add_color_option(Options& options, std::string& when);

}  // namespace zeus::command_line
