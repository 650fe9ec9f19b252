// What may be written to a terminal, and what only looks like one. Pure but for declaring; any thread.
#pragma once

#include "base/environment.hpp"

#include <string>
#include <string_view>

namespace zeus::command_line {

class Options;

struct TerminalStyle {
  bool live = false;    // the cursor can be moved: a picture can be drawn over the former one
  bool colour = false;  // and bold type
};

// `when` is what --color says: "auto", "always" or "never". Of itself it is what the stream is, TERM and NO_COLOR say:
// a terminal that is not dumb, and colours unless they are not wanted.
TerminalStyle terminal_style(std::string_view when, const Environment& environment, bool is_terminal);

// Whether what is printed on standard output, or on standard error, is to have colours.
bool colour_on_output(std::string_view when, const Environment& environment);
bool colour_on_errors(std::string_view when, const Environment& environment);

// Declares --color for a command.
void add_color_option(Options& options, std::string& when);

}  // namespace zeus::command_line
