// `zeus llm compare`: how one result of `zeus llm bench` differs from another, and whether that is clear. Main thread
// only.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace zeus::cli {

class LlmCompareCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "compare"; }
  [[nodiscard]] std::string summary() const override { return "Two results against each other, with intervals"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::string first_;
  std::string second_;
  bool json_ = false;
};

}  // namespace zeus::cli
