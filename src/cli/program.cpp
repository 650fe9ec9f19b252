#include "cli/program.hpp"

#include "cli/options.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <ostream>
#include <string>
#include <system_error>

namespace zeus::cli {

namespace {

bool is_command(const Commands& commands, const std::string& name) {
  return std::ranges::any_of(commands, [&](const auto& command) { return command->name() == name; });
}

// What was printed and did not arrive (a full disk, a closed stream) is a failure of a command that else succeeded.
int with_output_delivered(int code, Context& context) {
  errno = 0;
  if (context.out.flush() || code != exit_ok) {
    return code;
  }
  const int error = errno;
  context.err << "zeus: standard output did not take all that was printed"
              << (error != 0 ? ": " + std::generic_category().message(error) : "") << '\n';
  return exit_failure;
}

}  // namespace

int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context) {
  if (!arguments.empty() && !arguments[0].starts_with('-') && !is_command(commands, arguments[0])) {
    context.err << "zeus: there is no command '" << arguments[0].substr(0, 64)
                << "'; `zeus --help` lists what there is\n";
    return exit_bad_usage;
  }
  try {
    Command* const chosen =
        read_command_line({.name = "zeus",
                           .version = std::string{version},
                           .description = "Measures the energy of deep-learning work and spends less of it.",
                           .closing = "docs/cli.md has the contracts that scripts may rely on."},
                          commands, arguments, context.out);
    return with_output_delivered(chosen ? chosen->run(context) : exit_ok, context);
  } catch (const Error& error) {
    context.err << "zeus: " << error.what() << '\n';
    return error.kind() == ErrorKind::invalid_argument ? exit_bad_usage : exit_failure;
  } catch (const std::exception& error) {
    context.err << "zeus: " << error.what() << "; this is a defect in zeus, please report it\n";
    return exit_failure;
  }
}

}  // namespace zeus::cli
