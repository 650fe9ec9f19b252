#include "command_line/terminal_style.hpp"

#include "command_line/options.hpp"

#include <unistd.h>

#include <string>

namespace zeus::command_line {

TerminalStyle terminal_style(std::string_view when, const Environment& environment, bool is_terminal) {
  const std::string terminal = environment.get("TERM").value_or("");
  const bool live = is_terminal && !terminal.empty() && terminal != "dumb";
  const bool unwanted = !environment.get("NO_COLOR").value_or("").empty();
  return {.live = live, .colour = when == "always" || (when != "never" && live && !unwanted)};
}

bool colour_on_output(std::string_view when, const Environment& environment) {
  return terminal_style(when, environment, ::isatty(STDOUT_FILENO) != 0).colour;
}

bool colour_on_errors(std::string_view when, const Environment& environment) {
  return terminal_style(when, environment, ::isatty(STDERR_FILENO) != 0).colour;
}

void add_color_option(Options& options, std::string& when) {
  options
      .add_option("--color", when, "Colours and bold type; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
      .among({"auto", "always", "never"})
      .with_default();
}

}  // namespace zeus::command_line
