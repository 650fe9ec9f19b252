// Who sends a request and with which rights, as far as a token says. Plain values; any thread.
#pragma once

#include "protocol/scopes.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace zeus::server {

struct Visitor {
  std::string user;  // a token's `sub`; empty if tokens are not required
  std::vector<protocol::Scope> scopes;

  [[nodiscard]] bool may(protocol::Scope scope) const { return std::ranges::find(scopes, scope) != scopes.end(); }
};

}  // namespace zeus::server
