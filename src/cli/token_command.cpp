#include "cli/token_command.hpp"

#include "command_line/options.hpp"
#include "protocol/scopes.hpp"

#include <fmt/format.h>

#include <memory>
#include <ostream>

namespace zeus::cli {

void TokenIssueCommand::declare(Options& options) {
  options.example("zeus token issue --signing-key-path key --user ann --scope jobs-read,jobs-write --expires 30d",
                  "to run jobs, for a month");
  std::vector<std::string> scopes;
  for (const std::string_view scope : protocol::scope_names()) {
    scopes.emplace_back(scope);
  }
  order_.declare(options, scopes);
}

int TokenIssueCommand::run(Context& context) {
  context.out << order_.carry_out(context.clock) << '\n';
  return exit_ok;
}

void TokenRevokeCommand::declare(Options& options) {
  options.example("zeus token revoke --signing-key-path key --token-file stolen.txt", "by the token itself");
  order_.declare(options);
}

int TokenRevokeCommand::run(Context& context) {
  context.out << fmt::format("revoked {}; servers apply it at their next SIGHUP or start\n",
                             order_.carry_out(context.clock));
  return exit_ok;
}

TokenCommand::TokenCommand() {
  commands_.push_back(std::make_unique<TokenIssueCommand>());
  commands_.push_back(std::make_unique<TokenRevokeCommand>());
}

void TokenCommand::declare(Options& options) {
  options.example("zeus token issue --signing-key-path key --user ann --scope jobs-write --expires 30d", "a new one");
  options.add_commands(commands_, chosen_);
}

}  // namespace zeus::cli
