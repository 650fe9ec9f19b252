// `zeus completions`: a script by which a shell completes command lines of zeus.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace zeus::cli {

class CompletionsCommand final : public Command {
 public:
  // All commands of the program, itself among them; they outlive it.
  explicit CompletionsCommand(const Commands& commands) : commands_{&commands} {}

  [[nodiscard]] std::string name() const override { return "completions"; }
  [[nodiscard]] std::string summary() const override { return "Print a script that completes commands in a shell"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  const Commands* commands_;
  std::string shell_;
};

}  // namespace zeus::cli
