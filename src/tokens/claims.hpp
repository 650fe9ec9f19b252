// What a token says: whose it is, what for, until when. Plain values; any thread.
#pragma once

#include "base/random_id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::tokens {

// Seconds since 1970, in civil time.
using UnixSeconds = std::int64_t;

struct Claims {
  std::string subject;
  std::vector<std::string> scopes;
  std::optional<UnixSeconds> expires = std::nullopt;  // nothing where it never does
  // By which it can be revoked: its `jti`, or for tokens that have none "sha256:" and what is signed, hashed. Who
  // issues one gives random_id().
  std::string id = {};

  friend bool operator==(const Claims&, const Claims&) = default;
};

// For how long an expired token still goes.
inline constexpr UnixSeconds leeway = 60;
bool has_expired(UnixSeconds expires, UnixSeconds now);

// Whether it can be a token's id: one word of at most 128 printable characters that does not begin with "#".
bool is_token_id(std::string_view id);

using zeus::random_id;

}  // namespace zeus::tokens
