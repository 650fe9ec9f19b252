#include "cli/simulate_command.hpp"

#include "command_line/options.hpp"

namespace zeus::cli {

void SimulateCommand::declare(Options& options) {
  options.example("zeus simulate paper --html paper.html", "what to expect, without a GPU");
  options.add_commands(parts_, chosen_);
}

int SimulateCommand::run(Context& context) {
  return chosen_->run(context);
}

}  // namespace zeus::cli
