// `zeus llm`: what the answers of a served model take. Each of its subcommands is a Command of its own. Main thread
// only.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <utility>

namespace zeus::cli {

class LlmCommand final : public Command {
 public:
  // `parts` are the subcommands, such as `bench`.
  explicit LlmCommand(Commands parts) : parts_{std::move(parts)} {}

  [[nodiscard]] std::string name() const override { return "llm"; }
  [[nodiscard]] std::string summary() const override { return "Measure what the answers of a served model take"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  Commands parts_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::cli
