#include "cli/simulate_command.hpp"

#include <CLI/CLI.hpp>

namespace zeus::cli {

void SimulateCommand::declare(CLI::App& app) {
  app.require_subcommand(1);
  for (const auto& part : parts_) {
    CLI::App* const subcommand = app.add_subcommand(part->name(), part->summary());
    part->declare(*subcommand);
    subcommand->callback([this, &part] { chosen_ = part.get(); });
  }
}

int SimulateCommand::run(Context& context) {
  return chosen_->run(context);
}

}  // namespace zeus::cli
