// `zeusd policy check` and `zeusd policy explain`: what a policy means, without a daemon. Main thread.
#pragma once

#include "daemon/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

class PolicyCheckCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "check"; }
  [[nodiscard]] std::string summary() const override { return "Check whether a policy is valid"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  std::string file_;
};

class PolicyExplainCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "explain"; }
  [[nodiscard]] std::string summary() const override { return "Show what a user or token may do, and by which rule"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  std::optional<std::string> user_;
  std::optional<std::string> token_;
  int gpu_ = 0;
  std::optional<std::string> policy_;
  bool json_ = false;
};

class PolicyCommand final : public Command {
 public:
  PolicyCommand();
  [[nodiscard]] std::string name() const override { return "policy"; }
  [[nodiscard]] std::string summary() const override { return "Check and explain policies"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override { return chosen_->run(context); }

 private:
  command_line::CommandsWith<Context> commands_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::daemon
