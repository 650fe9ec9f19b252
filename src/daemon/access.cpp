#include "daemon/access.hpp"

#include "protocol/scopes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace zeus::daemon {

using protocol::Status;

namespace {

constexpr std::string_view scheme = "Bearer ";

bool is_open(std::string_view path) {
  return path == "/discover" || path == "/time";
}

// A name under which a page in a user's browser may have been sent here.
bool is_foreign(std::string_view host, const std::vector<std::string>& known) {
  if (host.starts_with('[')) {
    return false;  // an IPv6 address
  }
  const std::size_t colon = host.rfind(':');
  std::string name{host.substr(0, colon)};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_address = std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
  return !is_address && name != "localhost" && std::ranges::find(known, name) == known.end();
}

std::variant<tokens::Claims, tokens::Distrust> verify(std::string_view token, const Credentials& credentials,
                                                      WallTime now) {
  const std::vector<std::string_view> known = protocol::scope_names();
  constexpr std::int64_t microseconds = 1'000'000;
  return tokens::verify(token, *credentials.keys, credentials.revoked, known,
                        now.microseconds_since_epoch / microseconds);
}

TurnedAway away(Status status, std::string_view why, bool asks_for_token = false) {
  return {protocol::refusal(status, why), asks_for_token};
}

}  // namespace

std::optional<Group> group_of(std::string_view path) {
  if (path.starts_with("/gpu/set_") || path.starts_with("/gpu/reset_") || path.starts_with("/v1/leases") ||
      path.starts_with("/v1/outcomes")) {
    return Group::gpu_control;
  }
  if (path.starts_with("/gpu/")) {
    return Group::gpu_read;
  }
  if (path.starts_with("/cpu/")) {
    return Group::cpu_read;
  }
  return std::nullopt;
}

bool is_believed(const Client& client, const Credentials& credentials, WallTime now) {
  return client.bearer == nullptr ||
         (credentials.keys && std::holds_alternative<tokens::Claims>(verify(*client.bearer, credentials, now)));
}

bool needs_token(const transport::Peer& peer, const Credentials& credentials) {
  return !peer.local && credentials.keys;
}

std::variant<Visitor, TurnedAway> admit(const transport::Request& request, const transport::Peer& peer,
                                        const Admission& admission, WallTime now) {
  if (request.headers.get("origin")) {
    return away(Status::forbidden, "web pages may not use this daemon");
  }
  if (!peer.local) {
    const std::optional<std::string_view> host = request.headers.get("host");
    if (host && is_foreign(*host, admission.hosts)) {
      return away(Status::forbidden,
                  "this node is not known by that name: use its address, or have the daemon started with --host-name");
    }
  }
  const std::optional<Group> group = group_of(request.path);
  if (group && std::ranges::find(admission.groups, *group) == admission.groups.end()) {
    return away(Status::not_found, fmt::format("API group '{}' is not enabled on this daemon", field::name_of(*group)));
  }
  Visitor visitor;
  if (peer.local) {
    visitor.client.user = peer.local->user;
    visitor.client.groups = peer.local->groups;
    visitor.client.groups.push_back(peer.local->group);
    if (peer.local->process) {
      visitor.client.process = ClientProcess{peer.local->pid, peer.local->started, peer.local->process};
    }
  }
  const std::optional<std::string_view> authorization = request.headers.get("authorization");
  const bool must = needs_token(peer, admission.credentials);
  const bool about_token = request.path.starts_with("/auth/");
  if (!admission.credentials.keys || (!must && !authorization)) {
    if (about_token) {
      return away(Status::not_found, "this daemon asks for no token here");
    }
    return visitor;
  }
  if (is_open(request.path)) {
    return visitor;
  }
  if (!authorization || !authorization->starts_with(scheme)) {
    return away(Status::unauthorized, "a token is needed: send it as 'Authorization: Bearer TOKEN'", true);
  }
  const std::string_view token = authorization->substr(scheme.size());
  const std::variant<tokens::Claims, tokens::Distrust> verified = verify(token, admission.credentials, now);
  if (const auto* const distrust = std::get_if<tokens::Distrust>(&verified)) {
    return away(Status::unauthorized, distrust->text, true);
  }
  visitor.claims = std::get<tokens::Claims>(verified);
  visitor.client.token = visitor.claims->subject;
  visitor.client.scopes = visitor.claims->scopes;
  visitor.client.bearer = std::make_shared<const std::string>(token);
  if (group && std::ranges::find(visitor.claims->scopes, field::name_of(*group)) == visitor.claims->scopes.end()) {
    return away(Status::forbidden,
                fmt::format("user '{}' lacks the scope '{}'; the token has [{}]", visitor.claims->subject,
                            field::name_of(*group), fmt::join(visitor.claims->scopes, ", ")));
  }
  return visitor;
}

}  // namespace zeus::daemon
