#include "daemon/token_commands.hpp"

#include "command_line/options.hpp"
#include "daemon/administration.hpp"

#include <fmt/format.h>

#include <memory>
#include <ostream>

namespace zeus::daemon {

void TokenIssueCommand::declare(command_line::Options& options) {
  options.example("zeusd token issue --signing-key-path /etc/zeusd/key --user ann --scope gpu-read --expires 30d",
                  "for reading, for a month");
  order_.declare(options, {"gpu-control", "gpu-read", "cpu-read"});
}

int TokenIssueCommand::run(Context& context) {
  context.out << order_.carry_out(context.clock) << '\n';
  return command_line::exit_ok;
}

void TokenRevokeCommand::declare(command_line::Options& options) {
  options.example("zeusd token revoke --signing-key-path /etc/zeusd/key --token-file stolen.txt",
                  "by the token itself");
  order_.declare(options);
  options.add_option("--admin-socket", admin_socket_, "The daemon to inform").path().with_default();
}

int TokenRevokeCommand::run(Context& context) {
  context.out << fmt::format("revoked {}\n", order_.carry_out(context.clock));
  if (!reload(admin_socket_)) {
    context.out << "no running daemon was found; the revocation takes effect when one starts\n";
  }
  return command_line::exit_ok;
}

TokenCommand::TokenCommand() {
  commands_.push_back(std::make_unique<TokenIssueCommand>());
  commands_.push_back(std::make_unique<TokenRevokeCommand>());
}

void TokenCommand::declare(command_line::Options& options) {
  options.example("zeusd token issue --signing-key-path /etc/zeusd/key --user ann --expires 30d", "a new one");
  options.add_commands(commands_, chosen_);
}

}  // namespace zeus::daemon
