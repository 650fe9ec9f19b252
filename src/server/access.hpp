// Decides who may send requests: checks tokens, and detects pages of other sites in a user's browser. Plain values and
// pure functions (the time is an argument); any thread.
#pragma once

#include "base/clock.hpp"
#include "protocol/scopes.hpp"
#include "server/problem.hpp"
#include "server/visitor.hpp"
#include "tokens/credentials.hpp"
#include "transport/http.hpp"
#include "transport/peer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::server {

struct Access {
  tokens::Credentials credentials;
  std::vector<std::string> hosts;  // names of this server, beside those of loopback and IP addresses
  bool names_are_known = true;     // false behind a proxy, which has checked the name already
};

// Why a request is refused before its content is read; nothing if it may continue. A page from another site must not
// make a user's browser send us requests, with or without a token that the browser keeps.
std::optional<Refusal> refuse_other_sites(const transport::Request& request, const transport::Peer& peer,
                                          const Access& access);

// The sender of a request; a Refusal with 401 if unknown. Without keys, users are not checked and may do everything.
Visitor identify(const transport::Request& request, const Access& access, WallTime now);

// A Refusal with 403 if that scope is missing.
void require(const Visitor& visitor, protocol::Scope scope);

// The token in `Authorization`: a bearer token, or the password of Basic. Nothing for any other scheme.
std::optional<std::string> token_in(std::string_view authorization);

}  // namespace zeus::server
