// `zeus token issue` and `zeus token revoke`: tokens for `zeus serve`. Main thread.
#pragma once

#include "cli/command.hpp"
#include "tokens/token_orders.hpp"

#include <string>

namespace zeus::cli {

class TokenIssueCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "issue"; }
  [[nodiscard]] std::string summary() const override { return "Print a new token"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  tokens::IssueOrder order_;
};

class TokenRevokeCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "revoke"; }
  [[nodiscard]] std::string summary() const override { return "Revoke a token"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  tokens::RevokeOrder order_;
};

class TokenCommand final : public Command {
 public:
  TokenCommand();
  [[nodiscard]] std::string name() const override { return "token"; }
  [[nodiscard]] std::string summary() const override { return "Issue and revoke tokens for zeus serve"; }
  void declare(Options& options) override;
  int run(Context& context) override { return chosen_->run(context); }

 private:
  Commands commands_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::cli
