// Decides which requests a service takes, in this order: those that the page of another site makes its reader's browser
// send are refused, then those without the token that their route needs. The rules are here for every service; a Door
// has what one of them does otherwise. Plain values and pure functions (the time is an argument); any thread.
#pragma once

#include "base/clock.hpp"
#include "protocol/scopes.hpp"
#include "service/refusal.hpp"
#include "tokens/claims.hpp"
#include "tokens/credentials.hpp"
#include "transport/http.hpp"
#include "transport/peer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::service {

// Whom a route is for. One that does not say so is refused to every client.
struct Unstated {};
struct Anyone {};    // no token is looked at
struct AnyToken {};  // a valid token, whatever its scopes
using Needs = std::variant<Unstated, Anyone, AnyToken, protocol::Scope>;

// What one service does otherwise than another. Constants.
struct Door {
  std::string_view kind;     // "daemon", in messages
  std::string_view machine;  // "node"
  // Pages that it has sent may send requests; otherwise no page may.
  bool has_pages = false;
  // The kernel identifies clients on a Unix socket: they need no token. One that they send counts and is checked.
  bool knows_local_clients = false;
  // A token may be the password of Basic, and the scheme written in any case.
  bool takes_passwords = false;
  // On the loopback interface, an address is a name of this machine only if it is loopback's.
  bool is_strict_at_home = false;
  std::string_view challenge_header;
  std::string_view challenge;
  // What a refused client may do.
  std::string_view name_advice;
  std::string_view no_token_advice;
  std::string_view bad_token_advice = {};
  std::string_view scope_advice = {};
  std::string_view path_advice = {};
};

// What is configured, and may be read again while a service runs.
struct Access {
  // When a client has to call this machine by a name of its own. A page of another site may have its own name resolve
  // to our address. No browser sends a token there, so that `without_tokens` suffices where nothing is open.
  enum class Names { checked, without_tokens, unchecked };

  tokens::Credentials credentials = {};  // without keys, users are not checked
  std::vector<std::string> hosts = {};   // names of this machine, beside loopback's and its addresses
  Names names = Names::checked;
  std::optional<std::vector<protocol::Scope>> served = {};  // other scopes' routes are not there; nothing: all are
};

// Who sends a request and with which rights, as far as a token says.
struct Visitor {
  std::string user = {};                           // a token's subject; empty if none was checked
  std::vector<protocol::Scope> scopes = {};        // all of them if users are not checked
  std::optional<tokens::Claims> claims = {};       // of the token that was checked
  std::shared_ptr<const std::string> bearer = {};  // that token, which is never shown

  [[nodiscard]] bool may(protocol::Scope scope) const;
};

// Why a request is refused before its content is read; nothing if it may continue.
std::optional<Refusal> refuse_other_sites(const transport::Request& request, const transport::Peer& peer,
                                          const Door& door, const Access& access);

// The sender of a request; a Refusal with 401 if a token is needed and there is no valid one, with 403 for a route that
// does not say whom it is for, and with 404 for one that is not served.
Visitor identify(const transport::Request& request, const transport::Peer& peer, const Needs& needs, const Door& door,
                 const Access& access, WallTime now);

// A Refusal with 403 if a scope is missing.
void require(const Visitor& visitor, const Needs& needs, const Door& door);

// Whether a client at this end needs a token.
bool needs_token(const transport::Peer& peer, const Door& door, const Access& access);

// Whether this token, if there is one, is still valid.
bool is_believed(const std::shared_ptr<const std::string>& bearer, const Access& access, WallTime now);

// The token in `Authorization`: a bearer token, or the password of Basic where that is taken.
std::optional<std::string> token_in(std::string_view authorization, const Door& door);

}  // namespace zeus::service
