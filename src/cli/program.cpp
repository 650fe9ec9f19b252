#include "cli/program.hpp"

#include "command_line/options.hpp"
#include "command_line/program.hpp"

namespace zeus::cli {

command_line::CommandSyntax program_syntax(const Commands& commands, Command*& chosen) {
  command_line::CommandSyntax program;
  program.name = "zeus";
  program.path = program.name;
  program.summary = "Measures the energy of deep-learning work and spends less of it.";
  program.more = "docs/cli.md has the contracts that scripts may rely on.";
  program.closing = "`zeus help COMMAND` explains a command. " + program.more;
  Options options{program};
  options.add_commands(commands, chosen);
  options.example("zeus doctor", "what works on this machine, and how to fix the rest");
  options.example("zeus measure -- python train.py", "what a run costs, in joules, with the uncertainty");
  options.example("zeus run -- python train.py", "train under the power limit that costs least, found on the way");
  options.example("zeus init nightly -- python train.py",
                  "create a job file from one observed run; then `zeus run @nightly`, each time");
  options.example("zeus demo --quick", "see a recurring job become cheaper, without a GPU");
  return program;
}

int run_program(std::string_view version, const Commands& commands, std::span<const std::string> arguments,
                Context& context) {
  Command* chosen = nullptr;
  return command_line::run_program(program_syntax(commands, chosen), version, arguments, chosen, context);
}

}  // namespace zeus::cli
