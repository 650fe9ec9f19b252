// `zeusd token issue` and `zeusd token revoke`: tokens for clients over TCP. Main thread.
#pragma once

#include "daemon/context.hpp"
#include "tokens/token_orders.hpp"

#include <string>

namespace zeus::daemon {

class TokenIssueCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "issue"; }
  [[nodiscard]] std::string summary() const override { return "Print a new token"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  tokens::IssueOrder order_;
};

class TokenRevokeCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "revoke"; }
  [[nodiscard]] std::string summary() const override { return "Revoke a token"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override;

 private:
  tokens::RevokeOrder order_;
  std::string admin_socket_ = "/run/zeusd-admin/admin.sock";
};

class TokenCommand final : public Command {
 public:
  TokenCommand();
  [[nodiscard]] std::string name() const override { return "token"; }
  [[nodiscard]] std::string summary() const override { return "Issue and revoke tokens"; }
  void declare(command_line::Options& options) override;
  int run(Context& context) override { return chosen_->run(context); }

 private:
  command_line::CommandsWith<Context> commands_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::daemon
