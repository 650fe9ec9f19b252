#include "cli/completions_command.hpp"

#include "cli/program.hpp"
#include "command_line/completions.hpp"
#include "command_line/options.hpp"

#include <ostream>

namespace zeus::cli {

void CompletionsCommand::declare(Options& options) {
  options.footer(
      "An installed zeus brings these where the shells look for them. By hand: `source <(zeus completions bash)` in\n"
      "~/.bashrc, the same with zsh in ~/.zshrc, `zeus completions fish | source` in ~/.config/fish/config.fish.");
  options.example("source <(zeus completions bash)", "for the shell that is open");
  options.add_option("SHELL", shell_, "bash, zsh or fish").among(command_line::shells_with_completions()).required();
}

int CompletionsCommand::run(Context& context) {
  Command* nobody = nullptr;
  context.out << command_line::completions(program_syntax(*commands_, nobody), shell_);
  return exit_ok;
}

}  // namespace zeus::cli
