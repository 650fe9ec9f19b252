// `zeus simulate`: replays jobs and clusters from traces or models, without any device. Each of its subcommands is a
// Command of its own. Main thread only.
#pragma once

#include "cli/command.hpp"

namespace zeus::cli {

class SimulateCommand final : public Command {
 public:
  // `parts` are the subcommands, such as `job` and `cluster`.
  explicit SimulateCommand(Commands parts) : parts_{std::move(parts)} {}

  [[nodiscard]] std::string name() const override { return "simulate"; }
  [[nodiscard]] std::string summary() const override { return "Replay recurring jobs and clusters without a GPU"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  Commands parts_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::cli
