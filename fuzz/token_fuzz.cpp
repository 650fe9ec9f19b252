// The only valid tokens are those that the key has signed, with known scopes and not expired; no refusal is long. The
// first byte selects what the rest is: a token, a header and a payload to sign, revoked tokens, or a duration.

#include "tokens/base64url.hpp"
#include "tokens/token.hpp"
#include "tokens/token_duration.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace tokens = zeus::tokens;

constexpr std::array<std::string_view, 3> known_scopes{"gpu-control", "gpu-read", "cpu-read"};
constexpr tokens::UnixSeconds time_of_check = 1795235062;

const tokens::KeyRing& ring() {
  static const tokens::KeyRing keys{
      {tokens::Key{"2026-05", "correct horse battery staple\n"}, tokens::Key{"2026-11", "another key\n"}}};
  return keys;
}

bool is_signed(std::string_view token) {
  const std::size_t dot = token.rfind('.');
  return std::ranges::any_of(
      ring().keys, [&](const tokens::Key& key) { return key.verify(token.substr(0, dot), token.substr(dot + 1)); });
}

void try_token(std::string_view token) {
  const auto result = tokens::verify(token, ring(), {}, known_scopes, time_of_check);
  if (const auto* const distrust = std::get_if<tokens::Distrust>(&result)) {
    if (distrust->text.size() > 100 ||
        !(distrust->text.starts_with("Invalid token: ") || distrust->text == "The token has expired")) {
      std::abort();
    }
    return;
  }
  const auto& claims = std::get<tokens::Claims>(result);
  const bool known = std::ranges::all_of(claims.scopes, [](const std::string& scope) {
    return std::ranges::find(known_scopes, scope) != known_scopes.end();
  });
  if (!is_signed(token) || !known || (claims.expires && *claims.expires < time_of_check - tokens::leeway) ||
      !tokens::is_token_id(claims.id)) {
    std::abort();
  }
  tokens::Revocations revoked;
  revoked.add(claims.id, claims.expires);
  if (std::holds_alternative<tokens::Claims>(tokens::verify(token, ring(), revoked, known_scopes, time_of_check))) {
    std::abort();
  }
  const std::string again = tokens::issue(claims, ring().key());
  const auto expected = again.size() <= tokens::most_token_bytes;
  if (std::holds_alternative<tokens::Claims>(tokens::verify(again, ring(), {}, known_scopes, time_of_check)) !=
      expected) {
    std::abort();
  }
}

void try_signed(std::string_view parts) {
  const std::size_t line = std::min(parts.find('\n'), parts.size());
  const std::string input = tokens::to_base64url(parts.substr(0, line)) + "." +
                            tokens::to_base64url(parts.substr(std::min(line + 1, parts.size())));
  try_token(input + "." + ring().keys.front().sign(input));
}

void try_revocations(std::string_view text) {
  const auto revoked = tokens::Revocations::parse(text);
  if (tokens::Revocations::parse(revoked.text()) != revoked) {
    std::abort();
  }
}

void try_duration(std::string_view text) {
  const auto seconds = tokens::parse_token_duration(text);
  if (seconds && *seconds < 0) {
    std::abort();
  }
}

}  // namespace

extern "C" int fuzz_token(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  constexpr std::array attempts{&try_token, &try_signed, &try_revocations, &try_duration};
  const std::string_view text{reinterpret_cast<const char*>(data + 1), size - 1};
  try {
    attempts[(data[0] - std::size_t{'0'}) % attempts.size()](text);
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data && error.kind() != zeus::ErrorKind::invalid_argument) {
      std::abort();
    }
  }
  return 0;
}
