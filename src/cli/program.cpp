#include "cli/program.hpp"

#include "base/printable.hpp"
#include "cli/command_line.hpp"
#include "cli/help_text.hpp"
#include "cli/options.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>

namespace zeus::cli {

namespace {

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

int perform(const Asked& asked, std::string_view version, Command* chosen, Context& context) {
  switch (asked.what) {
    case Asked::For::help:
      context.out << help_text(*asked.command);
      return exit_ok;
    case Asked::For::version:
      context.out << asked.command->name << ' ' << version << '\n';
      return exit_ok;
    case Asked::For::run:
      break;
  }
  return chosen->run(context);
}

}  // namespace

CommandSyntax program_syntax(const Commands& commands, Command*& chosen) {
  CommandSyntax program;
  program.name = "zeus";
  program.path = program.name;
  program.summary = "Measures the energy of deep-learning work and spends less of it.";
  program.closing = "`zeus help COMMAND` explains a command. docs/cli.md has the contracts that scripts may rely on.";
  Options options{program};
  options.add_commands(commands, chosen);
  options.example("zeus doctor", "what works on this machine, and how to mend what does not");
  options.example("zeus measure -- python train.py", "what a run costs, in joules, with the uncertainty");
  options.example("zeus run -- python train.py", "train under the power limit that costs least, found on the way");
  options.example("zeus init nightly -- python train.py",
                  "write a recurring job down by watching it once; then `zeus run @nightly`, each time");
  options.example("zeus demo --quick", "see a recurring job become cheaper, without a GPU");
  return program;
}

int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context) {
  Command* chosen = nullptr;
  const auto fail = [&](std::string_view why) {
    context.err << "zeus: " << why << '\n';
    return chosen != nullptr ? chosen->failure_code() : exit_failure;
  };
  try {
    const CommandSyntax program = program_syntax(commands, chosen);
    if (arguments.empty()) {
      context.out << first_steps(program);
      return with_output_delivered(exit_ok, context);
    }
    const Asked asked = read_command_line(program, arguments);
    return with_output_delivered(perform(asked, version, chosen, context), context);
  } catch (const Error& error) {
    const int code = fail(error.what());
    return error.kind() == ErrorKind::invalid_argument ? exit_bad_usage : code;
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(fmt::format("cannot use {}: {}", in_quotes(error.path1().string()), error.code().message()));
  } catch (const std::exception& error) {
    return fail(printable(error.what()) + "; this is a defect in zeus, please report it");
  }
}

}  // namespace zeus::cli
