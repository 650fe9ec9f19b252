#include "cli/completions_command.hpp"

#include "cli/program.hpp"
#include "command_line/completions.hpp"
#include "command_line/options.hpp"

#include <ostream>

namespace zeus::cli {

void CompletionsCommand::declare(Options& options) {
  options.footer(
      "The Debian package sets completion up. To load it by hand, add `source <(zeus completions bash)` to ~/.bashrc,\n"
      "the same with zsh to ~/.zshrc, or `zeus completions fish | source` to ~/.config/fish/config.fish.");
  options.example("source <(zeus completions bash)", "for the shell that is open");
  options.add_option("SHELL", shell_, "bash, zsh or fish").among(command_line::shells_with_completions()).required();
}

int CompletionsCommand::run(Context& context) {
  Command* nobody = nullptr;
  context.out << command_line::completions(program_syntax(*commands_, nobody), shell_);
  return exit_ok;
}

}  // namespace zeus::cli
