// `zeus llm board`: many results of `zeus llm bench` side by side. Main thread only.
#pragma once

#include "cli/command.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::cli {

class LlmBoardCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "board"; }
  [[nodiscard]] std::string summary() const override { return "Many results side by side, as a table and a page"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::vector<std::string> places_;
  std::optional<std::string> html_;
  std::optional<std::string> json_;
};

}  // namespace zeus::cli
