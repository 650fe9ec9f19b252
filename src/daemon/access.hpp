// Who a request comes from, and what it may ask for at all: groups of routes that this daemon serves, tokens, and what
// gives a web page in a browser away. Finer rules are the policy's. Plain values and pure functions, but for the
// time, which is an argument; any thread.
#pragma once

#include "base/clock.hpp"
#include "daemon/client.hpp"
#include "protocol/error_body.hpp"
#include "tokens/credentials.hpp"
#include "tokens/token.hpp"
#include "transport/http.hpp"
#include "transport/peer.hpp"

#include <zeus/fields.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::daemon {

enum class Group { gpu_control, gpu_read, cpu_read };

constexpr auto names_of(Group /*group*/) {
  return std::array<field::Name<Group>, 3>{
      {{Group::gpu_control, "gpu-control"}, {Group::gpu_read, "gpu-read"}, {Group::cpu_read, "cpu-read"}}};
}

// The group of a path, by what it begins with; nothing for one that belongs to none.
std::optional<Group> group_of(std::string_view path);

using tokens::Credentials;

struct Visitor {
  Client client;
  std::optional<tokens::Claims> claims;
};

struct Admission {
  const std::vector<Group>& groups;
  const Credentials& credentials;
  const std::vector<std::string>& hosts;  // by which this node may be called beside its addresses
};

// An answer that is not the handler's to give, with `WWW-Authenticate` where it is there.
struct TurnedAway {
  protocol::Refusal refusal;
  bool asks_for_token = false;
};

// On a Unix socket the kernel says who asks; a token that is sent there all the same counts, and is checked. On TCP,
// where there are keys, a token is asked for. Checks come in the order in which existing clients know them.
std::variant<Visitor, TurnedAway> admit(const transport::Request& request, const transport::Peer& peer,
                                        const Admission& admission, WallTime now);

// Whether the token that this client came with, if any, still is one.
bool is_believed(const Client& client, const Credentials& credentials, WallTime now);

// Whether whoever is at this end needs a token.
bool needs_token(const transport::Peer& peer, const Credentials& credentials);

}  // namespace zeus::daemon
