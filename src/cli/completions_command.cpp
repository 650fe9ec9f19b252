#include "cli/completions_command.hpp"

#include "cli/completions.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"

#include <ostream>

namespace zeus::cli {

void CompletionsCommand::declare(Options& options) {
  options.footer(
      "An installed zeus brings these where the shells look for them. By hand: `source <(zeus completions bash)` in\n"
      "~/.bashrc, the same with zsh in ~/.zshrc, `zeus completions fish | source` in ~/.config/fish/config.fish.");
  options.example("source <(zeus completions bash)", "for the shell that is open");
  options.add_option("SHELL", shell_, "bash, zsh or fish").among(shells_with_completions()).required();
}

int CompletionsCommand::run(Context& context) {
  Command* nobody = nullptr;
  context.out << completions(program_syntax(*commands_, nobody), shell_);
  return exit_ok;
}

}  // namespace zeus::cli
