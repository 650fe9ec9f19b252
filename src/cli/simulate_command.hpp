// `zeus simulate`: jobs and clusters replayed from traces or models, without any device. A command of commands: each of
// its parts is a Command of its own. Main thread only.
#pragma once

#include "cli/command.hpp"

namespace zeus::cli {

class SimulateCommand final : public Command {
 public:
  // `parts` are `job`, `cluster` and whatever else can be simulated.
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
