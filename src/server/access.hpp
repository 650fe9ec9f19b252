// Who may ask: tokens, and what gives a page of another site in somebody's browser away. Plain values and pure
// functions, but for the time, which is an argument; any thread.
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
  std::vector<std::string> hosts;  // names by which this server may be called beside loopback's and addresses
  bool names_are_known = true;     // false behind a proxy, which has judged the name already
};

// Why a request is refused before anybody looks at what it asks for; nothing where it may go on. Whoever has a page
// opened that was loaded from elsewhere must not have his browser ask us, with a token that it keeps or without.
std::optional<Refusal> refuse_other_sites(const transport::Request& request, const transport::Peer& peer,
                                          const Access& access);

// Who asks: 401 as a Refusal. Without keys nobody is asked who he is, and he may do everything.
Visitor identify(const transport::Request& request, const Access& access, WallTime now);

// 403 as a Refusal where that scope lacks.
void require(const Visitor& visitor, protocol::Scope scope);

// What `Authorization` says: a bearer's token, or the password of Basic. Nothing where it is neither.
std::optional<std::string> token_in(std::string_view authorization);

// "127.0.0.1", "localhost", "[::1]:8470"
bool is_loopback_name(std::string_view host);

}  // namespace zeus::server
