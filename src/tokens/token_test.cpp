#include "tokens/token.hpp"

#include "tokens/base64url.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace zeus::tokens {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Made with Python:
//   b = lambda x: base64.urlsafe_b64encode(x).rstrip(b"=").decode()
//   s = b(b'{"typ":"JWT","alg":"HS256"}') + "." + b(b'{"sub":"ann","scopes":["gpu-read"],"exp":1795235062}')
//   s + "." + b(hmac.new(b"correct horse battery staple\n", s.encode(), hashlib.sha256).digest())
constexpr std::string_view anns =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJzY29wZXMiOlsiZ3B1LXJlYWQiXSwiZXhwIjoxNzk1MjM1MDYyfQ."
    "R_OKEWCv1tvGP2YGUCbd0KhxVxQTXRYA7kPq-z5krPs";
// The same with the key b"correct horse battery staple"
constexpr std::string_view anns_without_line_end =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJzY29wZXMiOlsiZ3B1LXJlYWQiXSwiZXhwIjoxNzk1MjM1MDYyfQ."
    "1TtPNAOnasu9c_gwEws8QgTpWQtdDJ7Bq2o9qLF83lY";
// The same of {"typ":"JWT","alg":"HS256","kid":"2026-11"}, {"sub":"ann","scopes":[],"jti":"0123456789abcdef01234567
// 89abcdef"} and the key b"another key\n"
constexpr std::string_view anns_by_name =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiIsImtpZCI6IjIwMjYtMTEifQ.eyJzdWIiOiJhbm4iLCJzY29wZXMiOltdLCJqdGkiOiIwMTIzNDU2"
    "Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZiJ9.1tiTWR-89k7zBh-6cGl4rQVEuSGHBMc-euvOYHF8FX8";

constexpr UnixSeconds expiry = 1795235062;
constexpr std::array<std::string_view, 3> scopes{"gpu-control", "gpu-read", "cpu-read"};

KeyRing file() {
  return {{Key{"", "correct horse battery staple\n"}}};
}
KeyRing folder() {
  return {{Key{"2026-05", "correct horse battery staple\n"}, Key{"2026-11", "another key\n"}}};
}

std::variant<Claims, Distrust> verified(std::string_view token, const KeyRing& keys = file(),
                                        UnixSeconds now = expiry - 10, const Revocations& revoked = {}) {
  return verify(token, keys, revoked, scopes, now);
}

std::string distrust(std::string_view token, const KeyRing& keys = file(), UnixSeconds now = expiry - 10,
                     const Revocations& revoked = {}) {
  const auto result = verified(token, keys, now, revoked);
  if (const auto* const why = std::get_if<Distrust>(&result)) {
    return why->text;
  }
  return "believed";
}

std::string signed_by(const Key& key, std::string_view header, std::string_view payload) {
  const std::string input = to_base64url(header) + "." + to_base64url(payload);
  return input + "." + key.sign(input);
}

std::string of_payload(std::string_view payload) {
  return signed_by(file().key(), R"({"typ":"JWT","alg":"HS256"})", payload);
}

TEST(TokenTest, IssuesTheSameTokenAsPython) {
  EXPECT_EQ(issue({.subject = "ann", .scopes = {"gpu-read"}, .expires = expiry}, file().key()), anns);
  EXPECT_EQ(issue({.subject = "ann", .scopes = {}, .id = "0123456789abcdef0123456789abcdef"}, folder().key()),
            anns_by_name);
}

TEST(TokenTest, WhatPythonSignsIsBelieved) {
  const auto result = verified(anns);
  ASSERT_TRUE(std::holds_alternative<Claims>(result)) << distrust(anns);
  const auto& claims = std::get<Claims>(result);
  EXPECT_EQ(claims.subject, "ann");
  EXPECT_THAT(claims.scopes, testing::ElementsAre("gpu-read"));
  EXPECT_EQ(claims.expires, expiry);
  // hashlib.sha256 of what is signed
  EXPECT_EQ(claims.id, "sha256:523addc9530f9f89457b348fbcc45d892713a1671eba6291abed58cbea24b4f8");
  EXPECT_EQ(unverified_claims(anns), claims);
  EXPECT_EQ(std::get<Claims>(verified(anns_by_name, folder())).id, "0123456789abcdef0123456789abcdef");
}

// RFC 7515, A.1; everything in it fits but the claims.
TEST(TokenTest, SignsTheExampleOfTheStandardAsGiven) {
  const std::optional<std::string> key =
      from_base64url("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  constexpr std::string_view input =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
  EXPECT_EQ(Key("", *key).sign(input), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
}

TEST(TokenTest, AcceptsTokensOfAKeyCopiedWithoutItsLineEnd) {
  EXPECT_EQ(distrust(anns_without_line_end), "believed");
  EXPECT_EQ(distrust(anns, {{Key{"", "correct horse battery staple"}}}), "Invalid token: InvalidSignature");
}

TEST(TokenTest, ExpiryHasAMinutesLeeway) {
  EXPECT_EQ(distrust(anns, file(), expiry + 30), "believed");
  EXPECT_EQ(distrust(anns, file(), expiry + 60), "believed");
  EXPECT_EQ(distrust(anns, file(), expiry + 61), "The token has expired");
  EXPECT_EQ(distrust(anns, file(), expiry + 90), "The token has expired");
}

TEST(TokenTest, WithoutAnExpiryItNeverExpires) {
  EXPECT_EQ(distrust(of_payload(R"({"sub":"ann","scopes":[]})"), file(), 9e15), "believed");
  EXPECT_EQ(distrust(of_payload(R"({"sub":"ann","scopes":[],"exp":9223372036854775807})"), file(), 9e15), "believed");
}

TEST(TokenTest, AnyOtherAlgorithmIsRefused) {
  for (const std::string_view algorithm : {"none", "HS384", "HS512", "RS256", "hs256", ""}) {
    const std::string header = R"({"typ":"JWT","alg":")" + std::string{algorithm} + R"("})";
    EXPECT_EQ(distrust(signed_by(file().key(), header, R"({"sub":"ann","scopes":[]})")),
              "Invalid token: InvalidAlgorithm")
        << algorithm;
  }
  EXPECT_THAT(distrust(signed_by(file().key(), R"({"typ":"JWT"})", R"({"sub":"ann","scopes":[]})")),
              StartsWith("Invalid token: JSON error: "));
  EXPECT_EQ(distrust("eyJhbGciOiJub25lIn0." + to_base64url(R"({"sub":"ann","scopes":[]})") + "."),
            "Invalid token: InvalidAlgorithm");
}

TEST(TokenTest, TheSignatureIsLookedAtBeforeTheClaims) {
  const std::string bad = of_payload(R"({"aud":"x","exp":1})");
  EXPECT_EQ(distrust(bad.substr(0, bad.size() - 2) + "AA"), "Invalid token: InvalidSignature");
  std::string changed{anns};
  changed[45] = changed[45] == 'A' ? 'B' : 'A';
  EXPECT_EQ(distrust(changed), "Invalid token: InvalidSignature");
  EXPECT_EQ(distrust(std::string{anns.substr(0, anns.rfind('.') + 1)}), "Invalid token: InvalidSignature");
}

TEST(TokenTest, AnyAudienceIsRefused) {
  EXPECT_EQ(distrust(of_payload(R"({"sub":"ann","scopes":[],"aud":"zeusd"})")), "Invalid token: InvalidAudience");
  EXPECT_EQ(distrust(of_payload(R"({"sub":"ann","scopes":[],"aud":null})")), "Invalid token: InvalidAudience");
}

TEST(TokenTest, OtherClaimsArePassedOver) {
  EXPECT_EQ(distrust(of_payload(
                R"({"sub":"ann","scopes":["cpu-read"],"exp":null,"nbf":9999999999,"iss":"x","jti":7,"x":{}})")),
            "believed");
}

TEST(TokenTest, ClaimsOfAnotherFormAreRefusedWithoutRepeatingThem) {
  for (const std::string_view payload :
       {R"({"scopes":[]})", R"({"sub":7,"scopes":[]})", R"({"sub":"confidential"})",
        R"({"sub":"ann","scopes":"gpu-read"})", R"({"sub":"ann","scopes":[1]})",
        R"({"sub":"ann","scopes":["confidential"]})", R"({"sub":"ann","scopes":["gpu-read","confidential"]})",
        R"({"sub":"ann","scopes":[],"exp":"confidential"})", R"({"sub":"ann","scopes":[],"exp":1.5})",
        R"({"sub":"ann","scopes":[],"exp":-1})", "[]", "7", "confidential", ""}) {
    EXPECT_THAT(distrust(of_payload(payload)), StartsWith("Invalid token: JSON error: ")) << payload;
    EXPECT_THAT(distrust(of_payload(payload)), testing::Not(HasSubstr("confidential"))) << payload;
  }
}

TEST(TokenTest, WhatIsNoTokenIsRefused) {
  for (const std::string_view token : {"", "x", "x.y", "a.b.c.d", "..."}) {
    EXPECT_EQ(distrust(token), "Invalid token: InvalidToken") << token;
    EXPECT_THROW(unverified_claims(token), Error);
  }
  EXPECT_EQ(distrust(std::string(most_token_bytes, 'a') + ".b.c"), "Invalid token: InvalidToken");
  EXPECT_EQ(distrust("!.b.c"), "Invalid token: Base64 error");
  EXPECT_THAT(distrust(".."), StartsWith("Invalid token: "));
}

TEST(TokenTest, ATokenThatNamesItsKeyIsHeldToIt) {
  EXPECT_EQ(distrust(anns_by_name, folder()), "believed");
  EXPECT_EQ(
      distrust(signed_by(folder().key("2026-05"), R"({"alg":"HS256","kid":"2026-11"})", R"({"sub":"","scopes":[]})"),
               folder()),
      "Invalid token: InvalidSignature");
  EXPECT_EQ(distrust(signed_by(folder().key(), R"({"alg":"HS256","kid":7})", R"({"sub":"","scopes":[]})"), folder()),
            "Invalid token: InvalidSignature");
}

TEST(TokenTest, ATokenThatNamesNoKeyMayBeOfAny) {
  EXPECT_EQ(distrust(anns, folder()), "believed");
}

TEST(TokenTest, AKeyThatIsAloneIsTriedWhateverTheTokenNames) {
  EXPECT_EQ(distrust(anns_by_name, {{Key{"", "another key\n"}}}), "believed");
}

TEST(TokenTest, RefusesTokensOfARetiredKey) {
  EXPECT_EQ(distrust(anns_by_name, {{Key{"2026-05", "correct horse battery staple\n"}}}),
            "Invalid token: InvalidSignature");
  EXPECT_EQ(distrust(anns, {{Key{"2026-11", "another key\n"}}}), "Invalid token: InvalidSignature");
}

TEST(TokenTest, RefusesRevokedTokensWithAndWithoutAnId) {
  Revocations revoked;
  revoked.add("0123456789abcdef0123456789abcdef", std::nullopt);
  EXPECT_EQ(distrust(anns_by_name, folder(), expiry, revoked), "Invalid token: Revoked");
  EXPECT_EQ(distrust(anns, folder(), expiry, revoked), "believed");
  revoked.add(unverified_claims(anns).id, expiry);
  EXPECT_EQ(distrust(anns, folder(), expiry, revoked), "Invalid token: Revoked");
}

TEST(TokenTest, IdsAreOfTheKernelAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    EXPECT_EQ(id.size(), 32U);
    EXPECT_TRUE(is_token_id(id));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 1000U);
}

}  // namespace
}  // namespace zeus::tokens
