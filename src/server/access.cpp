#include "server/access.hpp"

#include "tokens/base64url.hpp"
#include "tokens/token.hpp"
#include "transport/same_site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace zeus::server {

namespace {

constexpr int unauthorized = 401;

std::string lower(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

Refusal foreign(std::string_view why) {
  return {forbidden, ErrorKind::permission_denied, fmt::format("this comes from a page of another site: {}", why),
          "ask from a page that this server has sent, or with a program"};
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

Refusal who_are_you(std::string message) {
  return {unauthorized, ErrorKind::permission_denied, std::move(message),
          "send a token as 'Authorization: Bearer TOKEN', or as the password of the server's URL"};
}

}  // namespace

std::optional<Refusal> refuse_other_sites(const transport::Request& request, const transport::Peer& peer,
                                          const Access& access) {
  if (const auto why = transport::why_foreign(request.headers)) {
    return foreign(*why);
  }
  const std::optional<std::string_view> host = request.headers.get("host");
  // A page of another site may have its own name resolve to our address. No browser sends a token there.
  if (!access.credentials.keys && !peer.local && access.names_are_known && host &&
      !transport::is_loopback_name(*host)) {
    const std::string name = transport::host_name(*host);
    const bool from_here = peer.address.starts_with("127.") || peer.address == "::1";
    const bool is_known = std::ranges::find(access.hosts, name) != access.hosts.end();
    if (!is_known && (from_here || !transport::is_ip_address(name))) {
      return Refusal{forbidden, ErrorKind::permission_denied, "this server is not known by that name",
                     "use its address"};
    }
  }
  return std::nullopt;
}

std::optional<std::string> token_in(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string scheme = lower(authorization.substr(0, space));
  const std::string_view rest =
      authorization.substr(authorization.find_first_not_of(' ', space) == std::string_view::npos
                               ? authorization.size()
                               : authorization.find_first_not_of(' ', space));
  if (scheme == "bearer") {
    return std::string{rest};
  }
  if (scheme == "basic") {
    const std::optional<std::string> both = from_base64(rest);
    const std::size_t colon = both ? both->find(':') : std::string::npos;
    if (colon != std::string::npos) {
      return both->substr(colon + 1);
    }
  }
  return std::nullopt;
}

Visitor identify(const transport::Request& request, const Access& access, WallTime now) {
  Visitor visitor;
  if (!access.credentials.keys) {
    for (const auto& scope : names_of(protocol::Scope{})) {
      visitor.scopes.push_back(scope.value);
    }
    return visitor;
  }
  const auto authorization = request.headers.get("authorization");
  const std::optional<std::string> token = authorization ? token_in(*authorization) : std::nullopt;
  if (!token || request.headers.count("authorization") > 1) {
    throw who_are_you("a token is needed");
  }
  constexpr std::int64_t microseconds = 1'000'000;
  const auto verified = tokens::verify(*token, *access.credentials.keys, access.credentials.revoked,
                                       protocol::scope_names(), now.microseconds_since_epoch / microseconds);
  if (const auto* const distrust = std::get_if<tokens::Distrust>(&verified)) {
    throw who_are_you(distrust->text);
  }
  const auto& claims = std::get<tokens::Claims>(verified);
  visitor.user = claims.subject;
  for (const std::string& scope : claims.scopes) {
    if (const auto known = field::named<protocol::Scope>(scope)) {
      visitor.scopes.push_back(*known);
    }
  }
  return visitor;
}

void require(const Visitor& visitor, protocol::Scope scope) {
  if (visitor.may(scope)) {
    return;
  }
  std::vector<std::string_view> held;
  for (const protocol::Scope one : visitor.scopes) {
    held.push_back(field::name_of(one));
  }
  throw Refusal{forbidden, ErrorKind::permission_denied,
                fmt::format("user '{}' lacks the scope '{}'; the token has [{}]", visitor.user, field::name_of(scope),
                            fmt::join(held, ", ")),
                "ask for a token that has it"};
}

}  // namespace zeus::server
