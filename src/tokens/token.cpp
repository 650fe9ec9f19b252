#include "tokens/token.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "tokens/base64url.hpp"
#include "tokens/digest.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace zeus::tokens {

namespace {

using records::JsonValue;

constexpr std::size_t most_scopes = 64;

// A token's three parts.
struct Parts {
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
  std::string_view signing_input;  // the first two, unchanged
};

std::optional<Parts> parts_of(std::string_view token) {
  const std::size_t first_dot = token.find('.');
  const std::size_t second_dot = first_dot == std::string_view::npos ? first_dot : token.find('.', first_dot + 1);
  if (token.size() > most_token_bytes || second_dot == std::string_view::npos ||
      token.find('.', second_dot + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return Parts{.header = token.substr(0, first_dot),
               .payload = token.substr(first_dot + 1, second_dot - first_dot - 1),
               .signature = token.substr(second_dot + 1),
               .signing_input = token.substr(0, second_dot)};
}

Distrust invalid(std::string_view why) {
  return {.text = fmt::format("Invalid token: {}", why)};
}

// The JSON object in a part, or what is wrong with it.
std::variant<JsonValue, Distrust> object_of(std::string_view part) {
  const std::optional<std::string> text = from_base64url(part);
  if (!text) {
    return invalid("Base64 error");
  }
  std::optional<JsonValue> json = JsonValue::parse(*text);
  if (!json || json->object() == nullptr) {
    return invalid("JSON error: a part of it is not an object");
  }
  return *std::move(json);
}

// The claims of a payload, or what in it has another form.
std::variant<Claims, Distrust> claims_of(const JsonValue& payload, std::string_view signing_input) {
  Claims claims;
  const JsonValue* const subject = payload.find("sub");
  if (subject == nullptr || subject->string() == nullptr) {
    return invalid("JSON error: it has no 'sub' that is a string");
  }
  claims.subject = *subject->string();
  const JsonValue* const scopes = payload.find("scopes");
  if (scopes == nullptr || scopes->list() == nullptr || scopes->size() > most_scopes) {
    return invalid("JSON error: it has no 'scopes' that is a list");
  }
  for (const JsonValue& scope : *scopes->list()) {
    if (scope.string() == nullptr) {
      return invalid("JSON error: one of its 'scopes' is not a string");
    }
    claims.scopes.push_back(*scope.string());
  }
  if (const JsonValue* const expires = payload.find("exp"); expires != nullptr && !expires->is_null()) {
    claims.expires = expires->whole<UnixSeconds>();
    if (!claims.expires || *claims.expires < 0) {
      return invalid("JSON error: its 'exp' is not a whole number of seconds");
    }
  }
  const JsonValue* const id = payload.find("jti");
  claims.id =
      id != nullptr && id->string() != nullptr && is_token_id(*id->string()) ? *id->string() : sha256(signing_input);
  return claims;
}

// Whether one of the keys that this header allows has signed it.
bool is_signed(const Parts& parts, const JsonValue& header, const KeyRing& ring) {
  const JsonValue* const named = header.find("kid");
  const bool any = named == nullptr || (ring.keys.size() == 1 && ring.keys.front().id().empty());
  return std::ranges::any_of(ring.keys, [&](const Key& key) {
    return (any || (named->string() != nullptr && *named->string() == key.id())) &&
           key.verify(parts.signing_input, parts.signature);
  });
}

}  // namespace

std::string issue(const Claims& claims, const Key& key) {
  records::JsonWriter header;
  header.object([&] {
    header.put("typ", "JWT");
    header.put("alg", "HS256");
    if (!key.id().empty()) {
      header.put("kid", key.id());
    }
  });
  records::JsonWriter payload;
  payload.object([&] {
    payload.put("sub", claims.subject);
    payload.put("scopes", claims.scopes);
    if (claims.expires) {
      payload.put("exp", *claims.expires);
    }
    if (!claims.id.empty()) {
      payload.put("jti", claims.id);
    }
  });
  const std::string signing_input = to_base64url(header.take()) + "." + to_base64url(payload.take());
  return signing_input + "." + key.sign(signing_input);
}

std::variant<Claims, Distrust> verify(std::string_view token, const KeyRing& keys, const Revocations& revoked,
                                      std::span<const std::string_view> known_scopes, UnixSeconds now) {
  const std::optional<Parts> parts = parts_of(token);
  if (!parts) {
    return invalid("InvalidToken");
  }
  const auto header = object_of(parts->header);
  if (const auto* const wrong = std::get_if<Distrust>(&header)) {
    return *wrong;
  }
  const JsonValue* const algorithm = std::get<JsonValue>(header).find("alg");
  if (algorithm == nullptr || algorithm->string() == nullptr) {
    return invalid("JSON error: it has no 'alg' that is a string");
  }
  if (*algorithm->string() != "HS256") {
    return invalid("InvalidAlgorithm");
  }
  if (!is_signed(*parts, std::get<JsonValue>(header), keys)) {
    return invalid("InvalidSignature");
  }
  const auto payload = object_of(parts->payload);
  if (const auto* const wrong = std::get_if<Distrust>(&payload)) {
    return *wrong;
  }
  auto read = claims_of(std::get<JsonValue>(payload), parts->signing_input);
  const auto* const claims = std::get_if<Claims>(&read);
  if (claims == nullptr) {
    return read;
  }
  if (!std::ranges::all_of(claims->scopes, [&](std::string_view scope) {
        return std::ranges::find(known_scopes, scope) != known_scopes.end();
      })) {
    return invalid("JSON error: one of its 'scopes' is unknown here");
  }
  if (claims->expires && has_expired(*claims->expires, now)) {
    return Distrust{.text = "The token has expired"};
  }
  if (std::get<JsonValue>(payload).find("aud") != nullptr) {
    return invalid("InvalidAudience");
  }
  if (revoked.contains(claims->id)) {
    return invalid("Revoked");
  }
  return read;
}

Claims unverified_claims(std::string_view token) {
  const auto fail = [](const Distrust& why) { return Error{ErrorKind::corrupt_data, why.text}; };
  const std::optional<Parts> parts = parts_of(token);
  if (!parts) {
    throw fail(invalid("InvalidToken"));
  }
  const auto payload = object_of(parts->payload);
  if (const auto* const wrong = std::get_if<Distrust>(&payload)) {
    throw fail(*wrong);
  }
  auto claims = claims_of(std::get<JsonValue>(payload), parts->signing_input);
  if (const auto* const wrong = std::get_if<Distrust>(&claims)) {
    throw fail(*wrong);
  }
  return std::get<Claims>(std::move(claims));
}

}  // namespace zeus::tokens
