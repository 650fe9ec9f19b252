#include "cli/program.hpp"

#include "cli/options.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <exception>
#include <ostream>

namespace zeus::cli {

namespace {

bool is_command(const Commands& commands, const std::string& name) {
  return std::ranges::any_of(commands, [&](const auto& command) { return command->name() == name; });
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
    return chosen ? chosen->run(context) : exit_ok;
  } catch (const Error& error) {
    context.err << "zeus: " << error.what() << '\n';
    return error.kind() == ErrorKind::invalid_argument ? exit_bad_usage : exit_failure;
  } catch (const std::exception& error) {
    context.err << "zeus: " << error.what() << "; this is a defect in zeus, please report it\n";
    return exit_failure;
  }
}

}  // namespace zeus::cli
