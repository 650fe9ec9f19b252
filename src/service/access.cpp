#include "service/access.hpp"

#include "tokens/base64url.hpp"
#include "tokens/token.hpp"
#include "transport/same_site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace zeus::service {

namespace {

constexpr int unauthorized = 401;
constexpr int forbidden = 403;
constexpr int not_found = 404;
constexpr std::string_view bearer_scheme = "Bearer ";

Refusal refusal(int status, std::string message, std::string_view advice) {
  const ErrorKind kind = status == not_found ? ErrorKind::not_found : ErrorKind::permission_denied;
  return {status, kind, std::move(message), std::string{advice}};
}

bool is_own_name(std::string_view host, const transport::Peer& peer, const Door& door, const Access& access) {
  const std::string name = transport::host_name(host);
  if (transport::is_loopback_name(host) ||
      std::ranges::any_of(access.hosts, [&](const std::string& own) { return transport::same_name(own, name); })) {
    return true;
  }
  const bool is_at_home = peer.address.starts_with("127.") || peer.address == "::1";
  return transport::is_ip_address(name) && !(door.is_strict_at_home && is_at_home);
}

// As in Basic: with padding, and with two letters that a URL cannot contain.
std::optional<std::string> from_base64(std::string_view text) {
  std::string url{text};
  while (url.ends_with('=')) {
    url.pop_back();
  }
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  return tokens::from_base64url(url);
}

std::variant<tokens::Claims, tokens::Distrust> verify(std::string_view token, const tokens::Credentials& credentials,
                                                      WallTime now) {
  constexpr std::int64_t microseconds = 1'000'000;
  return tokens::verify(token, *credentials.keys, credentials.revoked, protocol::scope_names(),
                        now.microseconds_since_epoch / microseconds);
}

// Where users are not checked, each may do everything.
Visitor unchecked() {
  Visitor visitor;
  for (const auto& scope : names_of(protocol::Scope{})) {
    visitor.scopes.push_back(scope.value);
  }
  return visitor;
}

}  // namespace

bool Visitor::may(protocol::Scope scope) const {
  return std::ranges::find(scopes, scope) != scopes.end();
}

std::optional<Refusal> refuse_other_sites(const transport::Request& request, const transport::Peer& peer,
                                          const Door& door, const Access& access) {
  if (!door.has_pages && request.headers.get("origin")) {
    return refusal(forbidden, fmt::format("web pages may not use this {}", door.kind), {});
  }
  if (const auto why = door.has_pages ? transport::why_foreign(request.headers) : std::nullopt) {
    return refusal(forbidden, fmt::format("this comes from a page of another site: {}", *why),
                   "ask from a page that this server has sent, or with a program");
  }
  const bool checks_name = access.names == Access::Names::checked ||
                           (access.names == Access::Names::without_tokens && !access.credentials.keys);
  const std::optional<std::string_view> host = request.headers.get("host");
  // No page comes to a Unix socket.
  if (checks_name && !peer.local && host && !is_own_name(*host, peer, door, access)) {
    return refusal(forbidden, fmt::format("this {} is not known by that name", door.machine), door.name_advice);
  }
  return std::nullopt;
}

std::optional<std::string> token_in(std::string_view authorization, const Door& door) {
  if (!door.takes_passwords) {
    return authorization.starts_with(bearer_scheme)
               ? std::optional{std::string{authorization.substr(bearer_scheme.size())}}
               : std::nullopt;
  }
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view scheme = authorization.substr(0, space);
  const std::string_view rest =
      authorization.substr(std::min(authorization.find_first_not_of(' ', space), authorization.size()));
  if (transport::same_name(scheme, "bearer")) {
    return std::string{rest};
  }
  if (transport::same_name(scheme, "basic")) {
    const std::optional<std::string> both = from_base64(rest);
    const std::size_t colon = both ? both->find(':') : std::string::npos;
    if (colon != std::string::npos) {
      return both->substr(colon + 1);
    }
  }
  return std::nullopt;
}

bool needs_token(const transport::Peer& peer, const Door& door, const Access& access) {
  return access.credentials.keys && !(door.knows_local_clients && peer.local);
}

Visitor identify(const transport::Request& request, const transport::Peer& peer, const Needs& needs, const Door& door,
                 const Access& access, WallTime now) {
  if (std::holds_alternative<Unstated>(needs)) {
    throw refusal(forbidden, "this path is for no client", {});
  }
  const auto* const scope = std::get_if<protocol::Scope>(&needs);
  if (scope != nullptr && access.served && std::ranges::find(*access.served, *scope) == access.served->end()) {
    throw refusal(not_found, fmt::format("API group '{}' is not enabled on this {}", field::name_of(*scope), door.kind),
                  {});
  }
  const std::optional<std::string_view> authorization = request.headers.get("authorization");
  if (!access.credentials.keys || (!needs_token(peer, door, access) && !authorization)) {
    return unchecked();
  }
  if (std::holds_alternative<Anyone>(needs)) {
    return {};
  }
  const std::optional<std::string> token = authorization ? token_in(*authorization, door) : std::nullopt;
  if (!token || request.headers.count("authorization") > 1) {
    throw refusal(unauthorized, "a token is needed", door.no_token_advice);
  }
  const std::variant<tokens::Claims, tokens::Distrust> verified = verify(*token, access.credentials, now);
  if (const auto* const distrust = std::get_if<tokens::Distrust>(&verified)) {
    throw refusal(unauthorized, distrust->text, door.bad_token_advice);
  }
  const auto& claims = std::get<tokens::Claims>(verified);
  Visitor visitor{.user = claims.subject, .claims = claims, .bearer = std::make_shared<const std::string>(*token)};
  for (const std::string& held : claims.scopes) {
    visitor.scopes.push_back(field::named<protocol::Scope>(held).value());
  }
  return visitor;
}

void require(const Visitor& visitor, const Needs& needs, const Door& door) {
  const auto* const scope = std::get_if<protocol::Scope>(&needs);
  if (scope == nullptr || visitor.may(*scope)) {
    return;
  }
  std::vector<std::string_view> held;
  for (const protocol::Scope one : visitor.scopes) {
    held.push_back(field::name_of(one));
  }
  throw refusal(forbidden,
                fmt::format("user '{}' lacks the scope '{}'; the token has [{}]", visitor.user, field::name_of(*scope),
                            fmt::join(held, ", ")),
                door.scope_advice);
}

bool is_believed(const std::shared_ptr<const std::string>& bearer, const Access& access, WallTime now) {
  return bearer == nullptr ||
         (access.credentials.keys && std::holds_alternative<tokens::Claims>(verify(*bearer, access.credentials, now)));
}

}  // namespace zeus::service
