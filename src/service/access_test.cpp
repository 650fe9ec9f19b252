#include "service/access.hpp"

#include "daemon/api.hpp"
#include "server/api.hpp"
#include "tokens/token.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace zeus::service {
namespace {

using protocol::Scope;

const Door& zeusd = daemon::door;
const Door& serve = server::door;
const transport::Peer from_here{.connection = 1, .local = {}, .address = "127.0.0.1"};
const transport::Peer from_elsewhere{.connection = 1, .local = {}, .address = "192.0.2.7"};
const transport::Peer on_a_socket{
    .connection = 1,
    .local = transport::LocalPeer{.pid = 7, .user = 1000, .group = 1000, .groups = {4, 24}, .process = {}},
    .address = {}};
constexpr WallTime now{1'795'235'062'000'000};

transport::Request asked(transport::Headers headers) {
  return {.method = "GET", .path = "/", .query = {}, .headers = std::move(headers), .body = {}};
}

Access with_keys() {
  Access access;
  access.credentials.keys = tokens::KeyRing{{tokens::Key{"", "a key of the test"}}};
  return access;
}

Access of_service(std::vector<std::string> hosts = {}) {
  return {.hosts = std::move(hosts), .names = Access::Names::without_tokens};
}

std::string bearer(const Access& access, const std::string& scope, const std::string& id = "ann-1") {
  return "Bearer " + tokens::issue({.subject = "ann", .scopes = {scope}, .id = id}, access.credentials.keys->key());
}

bool is_refused(transport::Headers headers, const Access& access = of_service(),
                const transport::Peer& peer = from_here, const Door& door = serve) {
  return refuse_other_sites(asked(std::move(headers)), peer, door, access).has_value();
}

// 200 if the request is admitted.
int status(const transport::Headers& headers, const transport::Peer& peer, const Needs& needs, const Door& door,
           const Access& access) {
  try {
    require(identify(asked(headers), peer, needs, door, access, now), needs, door);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

TEST(Access, AdmitsProgramsAndTheServersOwnPages) {
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

TEST(Access, NoPageMayUseTheDaemon) {
  for (const char* const origin : {"http://localhost", "http://evil.example", "null"}) {
    EXPECT_TRUE(is_refused({{"Host", "localhost"}, {"Origin", origin}}, {}, from_here, zeusd)) << origin;
    EXPECT_TRUE(is_refused({{"Origin", origin}}, {}, on_a_socket, zeusd)) << origin;
  }
}

TEST(Access, KnowsItsConfiguredNamesAndAnyAddress) {
  const Access access = of_service({"zeus.example"});
  EXPECT_FALSE(is_refused({{"Host", "zeus.example:8470"}}, access, from_elsewhere));
  EXPECT_FALSE(is_refused({{"Host", "192.0.2.1:8470"}}, access, from_elsewhere));
  EXPECT_TRUE(is_refused({{"Host", "evil.example"}}, access, from_elsewhere));
  EXPECT_FALSE(is_refused({{"Host", "evil.example"}}, {.names = Access::Names::unchecked}));
  Access keys = with_keys();
  keys.names = Access::Names::without_tokens;
  EXPECT_FALSE(is_refused({{"Host", "any.example"}}, keys));  // a page has no token where one is required
}

TEST(Access, ANameIsForeignToTheDaemonUnlessItIsOneOfItsNodes) {
  for (Access access : {Access{}, with_keys()}) {
    access.hosts = {"node-7.example", "GPU01"};
    for (const char* const host : {"localhost", "LocalHost:4938", "192.0.2.9:4938", "[2001:db8::1]:4938", "[::1]",
                                   "node-7.example", "NODE-7.example:80", "gpu01:4938", "GPU01"}) {
      EXPECT_FALSE(is_refused({{"Host", host}}, access, from_elsewhere, zeusd)) << host;
      EXPECT_FALSE(is_refused({{"Host", host}}, access, from_here, zeusd)) << host;
    }
    for (const char* const host : {"attacker.example", "localhost.attacker.example", "node-7.example.attacker",
                                   "node-7", "0x7f000001", "192.0.2.9.example:4938"}) {
      EXPECT_TRUE(is_refused({{"Host", host}}, access, from_elsewhere, zeusd)) << host;
      EXPECT_FALSE(is_refused({{"Host", host}}, access, on_a_socket, zeusd)) << "no page comes to a socket";
    }
  }
}

TEST(Access, FindsATokenWhereClientsPutIt) {
  EXPECT_EQ(token_in("Bearer abc.def", serve), "abc.def");
  EXPECT_EQ(token_in("bearer abc", serve), "abc");
  EXPECT_EQ(token_in("Basic YW5uOnRva2Vu", serve), "token");  // ann:token
  EXPECT_EQ(token_in("basic OmE6Yg==", serve), "a:b");        // :a:b
  EXPECT_EQ(token_in("Basic OmE/Yj5j", serve), "a?b>c");      // :a?b>c, which has a slash
  EXPECT_EQ(token_in("Basic YW5u", serve), std::nullopt);     // ann
  EXPECT_EQ(token_in("Basic %%%", serve), std::nullopt);
  EXPECT_EQ(token_in("Digest abc", serve), std::nullopt);
  EXPECT_EQ(token_in("", serve), std::nullopt);
  EXPECT_EQ(token_in("Bearer abc.def", zeusd), "abc.def");
  for (const char* const other : {"bearer abc", "Basic YW5uOnRva2Vu", "Bearer:abc", "Bearer", ""}) {
    EXPECT_EQ(token_in(other, zeusd), std::nullopt) << other;
  }
}

TEST(Access, RequiresATokenIfThereAreKeys) {
  const Access access = with_keys();
  const Visitor ann = identify(asked({{"Authorization", bearer(access, "jobs-read")}}), from_here, Scope::jobs_read,
                               serve, access, now);
  EXPECT_EQ(ann.user, "ann");
  EXPECT_TRUE(ann.may(Scope::jobs_read));
  EXPECT_FALSE(ann.may(Scope::jobs_write));
  for (const Door* const door : {&zeusd, &serve}) {
    const std::string token = bearer(access, "jobs-read");
    EXPECT_EQ(status({{"Authorization", token}}, from_here, Scope::jobs_read, *door, access), 200);
    EXPECT_EQ(status({{"Authorization", token}}, from_here, AnyToken{}, *door, access), 200);
    EXPECT_EQ(status({{"Authorization", token}}, from_here, Scope::jobs_write, *door, access), 403);
    for (const transport::Headers& headers : {transport::Headers{}, transport::Headers{{"Authorization", "Bearer x"}},
                                              transport::Headers{{"Authorization", token}, {"Authorization", token}}}) {
      EXPECT_EQ(status(headers, from_here, Scope::jobs_read, *door, access), 401);
      EXPECT_EQ(status(headers, from_here, AnyToken{}, *door, access), 401);
      EXPECT_EQ(status(headers, from_here, Anyone{}, *door, access), 200);
    }
  }
}

TEST(Access, WithoutKeysUsersAreNotChecked) {
  const Visitor anybody = identify(asked({}), from_here, Scope::jobs_admin, serve, {}, now);
  EXPECT_EQ(anybody.user, "");
  EXPECT_TRUE(anybody.may(Scope::jobs_admin));
}

TEST(Access, ARouteForAnyoneGivesNoRights) {
  const Access access = with_keys();
  EXPECT_FALSE(identify(asked({}), from_here, Anyone{}, serve, access, now).may(Scope::jobs_read));
}

TEST(Access, ATokenOnTheDaemonsSocketCountsAndIsChecked) {
  const Access access = with_keys();
  const transport::Headers read{{"Authorization", bearer(access, "gpu-read")}};
  EXPECT_EQ(status({}, on_a_socket, Scope::gpu_read, zeusd, access), 200) << "the kernel knows the client";
  EXPECT_EQ(status({}, on_a_socket, Scope::jobs_read, serve, access), 401) << "the service has users of its own";
  EXPECT_EQ(identify(asked(read), on_a_socket, Scope::gpu_read, zeusd, access, now).user, "ann");
  EXPECT_EQ(status({{"Authorization", bearer(access, "gpu-read") + "x"}}, on_a_socket, Scope::gpu_read, zeusd, access),
            401);
  EXPECT_EQ(status(read, on_a_socket, Scope::gpu_control, zeusd, access), 403)
      << "a client that sends a token is held to it";
}

TEST(Access, ARevokedTokenIsRefusedFromTheNextRequestOn) {
  Access access = with_keys();
  const transport::Headers headers{{"Authorization", bearer(access, "gpu-read")}};
  EXPECT_EQ(status(headers, from_elsewhere, Scope::gpu_read, zeusd, access), 200);
  access.credentials.revoked.add("ann-1", std::nullopt);
  EXPECT_EQ(status(headers, from_elsewhere, Scope::gpu_read, zeusd, access), 401);
  EXPECT_EQ(
      status({{"Authorization", bearer(access, "gpu-read", "ann-2")}}, from_elsewhere, Scope::gpu_read, zeusd, access),
      200);
}

TEST(Access, AGroupThatIsNotServedIsNotThereWhateverTheToken) {
  Access access = with_keys();
  access.served.emplace({Scope::gpu_read});
  for (const transport::Headers& headers :
       {transport::Headers{}, transport::Headers{{"Authorization", bearer(access, "gpu-control")}}}) {
    EXPECT_EQ(status(headers, from_elsewhere, Scope::gpu_control, zeusd, access), 404);
  }
}

}  // namespace
}  // namespace zeus::service
