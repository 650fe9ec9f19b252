// Tokens: JSON Web Tokens signed with HMAC-SHA256, which say who asks and what for. Pure functions; any thread. No
// Error and no refusal repeats any part of a token.
#pragma once

#include "tokens/claims.hpp"
#include "tokens/key_ring.hpp"
#include "tokens/revocations.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace zeus::tokens {

inline constexpr std::size_t most_token_bytes = 8192;

// {"typ":"JWT","alg":"HS256"}, with the key's ID if it has one, and {"sub":..,"scopes":[..],"exp":..,"jti":..}.
std::string issue(const Claims& claims, const Key& key);

// Why a token is refused: "Invalid token: InvalidSignature", or that it has expired.
struct Distrust {
  std::string text;

  friend bool operator==(const Distrust&, const Distrust&) = default;
};

// The claims of a token, if one of the keys has signed it, all its scopes are among `known_scopes`, and it has neither
// expired nor been revoked. A token that names its key must be signed by that one, unless the only key has no ID.
std::variant<Claims, Distrust> verify(std::string_view token, const KeyRing& keys, const Revocations& revoked,
                                      std::span<const std::string_view> known_scopes, UnixSeconds now);

// The claims of a token without any verification, in order to revoke it. Throws a corrupt_data Error if it is no token.
Claims unverified_claims(std::string_view token);

}  // namespace zeus::tokens
