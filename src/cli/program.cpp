#include "cli/program.hpp"

#include <zeus/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <ostream>

namespace zeus::cli {

namespace {

constexpr const char* description = "Measures the energy of deep-learning work and spends less of it.";
constexpr const char* closing = "docs/cli.md has the contracts that scripts may rely on.";

bool is_command(const Commands& commands, const std::string& name) {
  return std::ranges::any_of(commands, [&](const auto& command) { return command->name() == name; });
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, Context& context) {
  if (error.get_exit_code() == 0) {
    return app.exit(error, context.out, context.err);
  }
  context.err << "zeus: " << error.what() << "; `zeus --help` lists what there is\n";
  return exit_bad_usage;
}

}  // namespace

int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context) {
  if (!arguments.empty() && !arguments[0].starts_with('-') && !is_command(commands, arguments[0])) {
    context.err << "zeus: there is no command '" << arguments[0].substr(0, 64)
                << "'; `zeus --help` lists what there is\n";
    return exit_bad_usage;
  }
  CLI::App app{description, "zeus"};
  app.footer(closing);
  app.set_version_flag("--version", "zeus " + std::string{version});
  app.require_subcommand(1);
  Command* chosen = nullptr;
  for (const auto& command : commands) {
    CLI::App* const subcommand = app.add_subcommand(command->name(), command->summary());
    command->declare(*subcommand);
    subcommand->callback([&chosen, &command] { chosen = command.get(); });
  }
  try {
    app.parse(std::vector<std::string>{arguments.rbegin(), arguments.rend()});
    return chosen->run(context);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, context);
  } catch (const Error& error) {
    context.err << "zeus: " << error.what() << '\n';
    return error.kind() == ErrorKind::invalid_argument ? exit_bad_usage : exit_failure;
  } catch (const std::exception& error) {
    context.err << "zeus: " << error.what() << "; this is a defect in zeus, please report it\n";
    return exit_failure;
  }
}

}  // namespace zeus::cli
