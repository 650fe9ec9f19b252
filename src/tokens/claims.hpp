// The contents of a token: its owner, what it allows, and when it expires. Plain values; any thread may use them.
#pragma once

#include "base/random_id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::tokens {

// Seconds since 1970 on the wall clock.
using UnixSeconds = std::int64_t;

struct Claims {
  std::string subject;
  std::vector<std::string> scopes;
  std::optional<UnixSeconds> expires = std::nullopt;  // empty if it never expires
  // Used to revoke it: its `jti`, or for a token without one, "sha256:" and the hash of the signed part. A new token
  // gets random_id().
  std::string id = {};

  friend bool operator==(const Claims&, const Claims&) = default;
};

// How long a token is accepted after it has expired.
inline constexpr UnixSeconds leeway = 60;
bool has_expired(UnixSeconds expires, UnixSeconds now);

// Whether this can be a token's ID: one word, of at most 128 printable characters, that does not begin with "#".
bool is_token_id(std::string_view id);

using zeus::random_id;

}  // namespace zeus::tokens
