#include "server/access.hpp"

#include "tokens/token.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace zeus::server {
namespace {

using protocol::Scope;

const transport::Peer from_here{.connection = 1, .local = {}, .address = "127.0.0.1"};
const transport::Peer from_elsewhere{.connection = 1, .local = {}, .address = "192.0.2.7"};

transport::Request asked(transport::Headers headers) {
  return {.method = "GET", .path = "/", .query = {}, .headers = std::move(headers), .body = {}};
}

Access with_keys() {
  Access access;
  access.credentials.keys = tokens::KeyRing{{tokens::Key{"", "a key of the test"}}};
  return access;
}

bool is_refused(transport::Headers headers, const Access& access = {}, const transport::Peer& peer = from_here) {
  return refuse_other_sites(asked(std::move(headers)), peer, access).has_value();
}

TEST(Access, AdmitsProgramsAndItsOwnPages) {
  EXPECT_FALSE(is_refused({}));
  EXPECT_FALSE(is_refused({{"Host", "127.0.0.1:8470"}}));
  EXPECT_FALSE(is_refused({{"Host", "localhost:8470"}, {"Origin", "http://localhost:8470"}}));
  EXPECT_FALSE(is_refused({{"Host", "[::1]:8470"}, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_FALSE(is_refused({{"Host", "LOCALHOST"}, {"Sec-Fetch-Site", "none"}}));
}

TEST(Access, RefusesPagesOfOtherSites) {
  EXPECT_TRUE(is_refused({{"Host", "evil.example"}}));
  EXPECT_TRUE(is_refused({{"Host", "127.0.0.1.evil.example"}}));
  EXPECT_TRUE(is_refused({{"Host", "192.0.2.1"}}));  // a name of ours that is not loopback's
  EXPECT_TRUE(is_refused({{"Host", ""}}));
  EXPECT_TRUE(is_refused({{"Host", "localhost"}, {"Origin", "http://evil.example"}}));
  EXPECT_TRUE(is_refused({{"Host", "localhost"}, {"Origin", "null"}}));
  EXPECT_TRUE(is_refused({{"Host", "localhost:8470"}, {"Origin", "http://localhost:8471"}}));
  for (const char* const site : {"cross-site", "same-site", ""}) {
    EXPECT_TRUE(is_refused({{"Host", "localhost"}, {"Sec-Fetch-Site", site}})) << site;
    EXPECT_TRUE(is_refused({{"Sec-Fetch-Site", site}}, with_keys())) << site;
  }
}

TEST(Access, KnowsItsConfiguredNamesAndAnyAddress) {
  const Access access{.credentials = {}, .hosts = {"zeus.example"}, .names_are_known = true};
  EXPECT_FALSE(is_refused({{"Host", "zeus.example:8470"}}, access, from_elsewhere));
  EXPECT_FALSE(is_refused({{"Host", "192.0.2.1:8470"}}, access, from_elsewhere));
  EXPECT_TRUE(is_refused({{"Host", "evil.example"}}, access, from_elsewhere));
  EXPECT_FALSE(is_refused({{"Host", "evil.example"}}, {.names_are_known = false}));
  EXPECT_FALSE(is_refused({{"Host", "any.example"}}, with_keys()));  // a page has no token where one is required
}

TEST(Access, FindsATokenWhereClientsPutIt) {
  EXPECT_EQ(token_in("Bearer abc.def"), "abc.def");
  EXPECT_EQ(token_in("bearer abc"), "abc");
  EXPECT_EQ(token_in("Basic YW5uOnRva2Vu"), "token");  // ann:token
  EXPECT_EQ(token_in("basic OmE6Yg=="), "a:b");        // :a:b
  EXPECT_EQ(token_in("Basic OmE/Yj5j"), "a?b>c");      // :a?b>c, which has a slash
  EXPECT_EQ(token_in("Basic YW5u"), std::nullopt);     // ann
  EXPECT_EQ(token_in("Basic %%%"), std::nullopt);
  EXPECT_EQ(token_in("Digest abc"), std::nullopt);
  EXPECT_EQ(token_in(""), std::nullopt);
}

TEST(Access, RequiresATokenIfThereAreKeys) {
  const Access access = with_keys();
  const std::string token = tokens::issue({.subject = "ann", .scopes = {"jobs-read"}}, access.credentials.keys->key());
  const Visitor ann = identify(asked({{"Authorization", "Bearer " + token}}), access, {});
  EXPECT_EQ(ann.user, "ann");
  EXPECT_TRUE(ann.may(Scope::jobs_read));
  EXPECT_FALSE(ann.may(Scope::jobs_write));
  EXPECT_THROW(require(ann, Scope::jobs_write), Refusal);
  for (const transport::Headers& headers :
       {transport::Headers{}, transport::Headers{{"Authorization", "Bearer x"}},
        transport::Headers{{"Authorization", "Bearer " + token}, {"Authorization", "Bearer " + token}}}) {
    try {
      identify(asked(headers), access, {});
      ADD_FAILURE() << "the visitor was admitted";
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.status(), 401);
    }
  }
  const Visitor anybody = identify(asked({}), {}, {});
  EXPECT_EQ(anybody.user, "");
  EXPECT_TRUE(anybody.may(Scope::jobs_admin));
}

}  // namespace
}  // namespace zeus::server
