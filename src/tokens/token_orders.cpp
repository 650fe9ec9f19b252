#include "tokens/token_orders.hpp"

#include "base/file_tree.hpp"
#include "base/trusted_file.hpp"
#include "command_line/bad_usage.hpp"
#include "tokens/credentials.hpp"
#include "tokens/token.hpp"
#include "tokens/token_duration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>

namespace zeus::tokens {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_token_file = std::size_t{1} << 20;

UnixSeconds seconds(WallTime time) {
  constexpr std::int64_t microseconds = 1'000'000;
  return time.microseconds_since_epoch / microseconds;
}

}  // namespace

void IssueOrder::declare(command_line::Options& options, const std::vector<std::string>& scopes) {
  options.add_option("--signing-key-path", keys_, "The key, or a folder of keys").path().required();
  options.add_option("--key-id", key_id_, "Which key of the folder (default: the last one)");
  options.add_option("--user", user_, "Whose it is").required();
  options.add_option("--scope", scopes_, "What it allows").delimiter(',').among(scopes);
  options.add_option("--expires", expires_, "Its lifetime: 90s, 1h 30m, 7d, or never").value_name("TIME").required();
}

std::string IssueOrder::carry_out(const Clock& clock) const {
  const KeyRing keys = read_keys(keys_, ::geteuid());
  Claims claims{.subject = user_, .scopes = scopes_, .expires = {}, .id = random_id()};
  if (const std::optional<UnixSeconds> lasts = parse_token_duration(expires_)) {
    claims.expires = seconds(clock.wall()) + *lasts;
  }
  return issue(claims, keys.key(key_id_));
}

void RevokeOrder::declare(command_line::Options& options) {
  options.add_option("--signing-key-path", keys_, "The key, or folder of keys, that signed it").path().required();
  command_line::Option id = options.add_option("--id", id_, "Its id: the claim jti");
  options.add_option("--token-file", token_file_, "A file that holds it").path().excludes(id);
}

std::string RevokeOrder::carry_out(const Clock& clock) const {
  if (!id_ && !token_file_) {
    throw command_line::BadUsage{"no token is named", "name it by --id or --token-file"};
  }
  Claims claims;
  claims.id = id_.value_or("");
  if (token_file_) {
    std::optional<std::string> token = FileTree{}.read(fs::absolute(*token_file_).string(), longest_token_file);
    if (!token) {
      throw Error{ErrorKind::not_found, fmt::format("there is no file {}", *token_file_)};
    }
    while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' ')) {
      token->pop_back();
    }
    claims = unverified_claims(*token);
  }
  const fs::path file = fs::absolute(revocations_of(keys_));
  const std::optional<std::string> former = read_trusted(file, ::geteuid(), longest_revocations);
  Revocations revoked = Revocations::parse(former.value_or(""));
  revoked.prune(seconds(clock.wall()));
  revoked.add(claims.id, claims.expires);
  FileTree{}.write_durably(file.string(), revoked.text());
  return claims.id;
}

}  // namespace zeus::tokens
