// Where a request comes from, and whether it is admitted at all: by the groups of routes that this daemon serves, by
// tokens, and by the signs of a web page in a browser. Finer rules belong to the policy. Plain values and pure
// functions; the time is an argument; any thread.
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

// The group of a path, by its beginning; empty for a path that belongs to none.
std::optional<Group> group_of(std::string_view path);

using tokens::Credentials;

struct Visitor {
  Client client;
  std::optional<tokens::Claims> claims;
};

struct Admission {
  const std::vector<Group>& groups;
  const Credentials& credentials;
  const std::vector<std::string>& hosts;  // names of this node beside its addresses
};

// A refusal before any handler is called, with `WWW-Authenticate` if that is set.
struct TurnedAway {
  protocol::Refusal refusal;
  bool asks_for_token = false;
};

// On a Unix socket the kernel identifies the client; a token sent there counts all the same, and is checked. On TCP a
// token is required if there are keys. The checks come in the order that existing clients expect.
std::variant<Visitor, TurnedAway> admit(const transport::Request& request, const transport::Peer& peer,
                                        const Admission& admission, WallTime now);

// Whether this client's token, if it has one, is still valid.
bool is_believed(const Client& client, const Credentials& credentials, WallTime now);

// Whether the client at this end needs a token.
bool needs_token(const transport::Peer& peer, const Credentials& credentials);

}  // namespace zeus::daemon
