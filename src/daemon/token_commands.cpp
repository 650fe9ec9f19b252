#include "daemon/token_commands.hpp"

#include "base/file_tree.hpp"
#include "base/trusted_file.hpp"
#include "command_line/options.hpp"
#include "daemon/access.hpp"
#include "daemon/administration.hpp"
#include "daemon/rule_files.hpp"
#include "tokens/token.hpp"
#include "tokens/token_duration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <ostream>
#include <utility>

namespace zeus::daemon {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = std::size_t{1} << 20;

tokens::UnixSeconds seconds(WallTime time) {
  constexpr std::int64_t microseconds = 1'000'000;
  return time.microseconds_since_epoch / microseconds;
}

}  // namespace

void TokenIssueCommand::declare(command_line::Options& options) {
  options.example("zeusd token issue --signing-key-path /etc/zeusd/key --user ann --scope gpu-read --expires 30d",
                  "for reading, for a month");
  options.add_option("--signing-key-path", keys_, "The key, or a folder of keys").path().required();
  options.add_option("--key-id", key_id_, "Which key of the folder (default: the last one)");
  options.add_option("--user", user_, "Whose it is").required();
  options.add_option("--scope", scopes_, "What it is good for")
      .delimiter(',')
      .among({"gpu-control", "gpu-read", "cpu-read"});
  options.add_option("--expires", expires_, "For how long: 90s, 1h 30m, 7d, or never").value_name("TIME").required();
}

int TokenIssueCommand::run(Context& context) {
  const tokens::KeyRing keys = tokens::read_keys(keys_, ::geteuid());
  tokens::Claims claims{.subject = user_, .scopes = scopes_, .expires = {}, .id = tokens::random_id()};
  if (const std::optional<tokens::UnixSeconds> lasts = tokens::parse_token_duration(expires_)) {
    claims.expires = seconds(context.clock.wall()) + *lasts;
  }
  context.out << tokens::issue(claims, keys.key(key_id_)) << '\n';
  return command_line::exit_ok;
}

void TokenRevokeCommand::declare(command_line::Options& options) {
  options.example("zeusd token revoke --signing-key-path /etc/zeusd/key --token-file stolen.txt",
                  "by the token itself");
  options.add_option("--signing-key-path", keys_, "The key, or folder of keys, that signed it").path().required();
  command_line::Option id = options.add_option("--id", id_, "Its id: the claim jti");
  options.add_option("--token-file", token_file_, "A file that holds it").path().excludes(id);
  options.add_option("--admin-socket", admin_socket_, "The daemon that is to be told").path().with_default();
}

int TokenRevokeCommand::run(Context& context) {
  if (!id_ && !token_file_) {
    throw Error{ErrorKind::invalid_argument, "it is not said which token", "name it by --id or --token-file"};
  }
  tokens::Claims claims;
  claims.id = id_.value_or("");
  if (token_file_) {
    std::optional<std::string> token = FileTree{}.read(fs::absolute(*token_file_).string(), longest_file);
    if (!token) {
      throw Error{ErrorKind::not_found, fmt::format("there is no file {}", *token_file_)};
    }
    while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' ')) {
      token->pop_back();
    }
    claims = tokens::unverified_claims(*token);
  }
  const fs::path file = fs::absolute(revocations_of(keys_));
  const std::optional<std::string> former = read_trusted(file, ::geteuid(), longest_file);
  tokens::Revocations revoked = tokens::Revocations::parse(former.value_or(""));
  revoked.prune(seconds(context.clock.wall()));
  revoked.add(claims.id, claims.expires);
  FileTree{}.write_durably(file.string(), revoked.text());
  context.out << fmt::format("revoked {}\n", claims.id);
  if (!reload(admin_socket_)) {
    context.out << "no daemon listens to its administrator here; the next one that starts heeds it\n";
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
