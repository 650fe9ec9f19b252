#include "daemon/access.hpp"

#include <gmock/gmock.h>

namespace zeus::daemon {
namespace {

using protocol::Status;

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() { credentials_.keys = tokens::KeyRing{{key_}}; }

  [[nodiscard]] std::string bearer(const std::string& id = "ann-1") const {
    return "Bearer " + tokens::issue({.subject = "ann", .scopes = {"gpu-read"}, .id = id}, key_);
  }
  [[nodiscard]] static transport::Request asked(const std::string& path, transport::Headers headers = {}) {
    return {.method = "GET", .path = path, .query = {}, .headers = std::move(headers), .body = {}};
  }
  [[nodiscard]] static transport::Peer local() {
    transport::Peer peer;
    peer.local = transport::LocalPeer{.pid = 7, .user = 1000, .group = 1000, .groups = {4, 24}, .process = {}};
    return peer;
  }
  [[nodiscard]] static transport::Peer remote() {
    transport::Peer peer;
    peer.address = "192.0.2.7";
    return peer;
  }
  [[nodiscard]] std::variant<Visitor, TurnedAway> admitted(const transport::Request& request,
                                                           const transport::Peer& peer) const {
    return admit(request, peer, {groups_, credentials_, hosts_}, WallTime{1'795'235'062'000'000});
  }
  // 200 if the request is admitted.
  [[nodiscard]] Status status(const transport::Request& request, const transport::Peer& peer) const {
    const auto result = admitted(request, peer);
    const auto* const away = std::get_if<TurnedAway>(&result);
    return away != nullptr ? away->refusal.status : Status::ok;
  }

  tokens::Key key_{"", "a key of this test"};
  Credentials credentials_;
  std::vector<Group> groups_{Group::gpu_read, Group::gpu_control};
  std::vector<std::string> hosts_{"node-7.example"};
};

TEST_F(AccessTest, ANameIsForeignUnlessItIsOneOfThisNodes) {
  for (const char* const host : {"localhost", "LocalHost:4938", "192.0.2.9:4938", "[2001:db8::1]:4938", "[::1]",
                                 "node-7.example", "NODE-7.example:80"}) {
    EXPECT_EQ(status(asked("/discover", {{"Host", host}}), remote()), Status::ok) << host;
  }
  for (const char* const host : {"attacker.example", "localhost.attacker.example", "node-7.example.attacker", "node-7",
                                 "0x7f000001", "192.0.2.9.example:4938"}) {
    EXPECT_EQ(status(asked("/discover", {{"Host", host}}), remote()), Status::forbidden) << host;
    EXPECT_EQ(status(asked("/discover", {{"Host", host}}), local()), Status::ok) << "no page comes to a socket";
  }
}

TEST_F(AccessTest, ATokenOnTheUnixSocketCountsAndIsChecked) {
  EXPECT_EQ(status(asked("/gpu/get_power"), local()), Status::ok);
  const auto with = admitted(asked("/gpu/get_power", {{"Authorization", bearer()}}), local());
  EXPECT_EQ(std::get<Visitor>(with).client.token, "ann");
  EXPECT_EQ(std::get<Visitor>(with).client.user, 1000U);
  EXPECT_EQ(status(asked("/gpu/get_power", {{"Authorization", bearer() + "x"}}), local()), Status::unauthorized);
  EXPECT_EQ(status(asked("/gpu/set_power_limit", {{"Authorization", bearer()}}), local()), Status::forbidden)
      << "a client that sends a token is held to it";
}

TEST_F(AccessTest, ARevokedTokenIsRefusedFromTheNextRequestOn) {
  const transport::Request request = asked("/gpu/get_power", {{"Authorization", bearer()}});
  EXPECT_EQ(status(request, remote()), Status::ok);
  credentials_.revoked.add("ann-1", std::nullopt);
  EXPECT_EQ(status(request, remote()), Status::unauthorized);
  EXPECT_EQ(status(asked("/gpu/get_power", {{"Authorization", bearer("ann-2")}}), remote()), Status::ok);
}

TEST_F(AccessTest, TheKernelsGroupsAreAllOfThem) {
  const auto visitor = std::get<Visitor>(admitted(asked("/gpu/get_power"), local()));
  EXPECT_THAT(visitor.client.groups, ::testing::UnorderedElementsAre(4U, 24U, 1000U));
  EXPECT_FALSE(visitor.client.process) << "the kernel could not name it";
}

TEST_F(AccessTest, EveryPathOfAGroupIsOfThatGroup) {
  EXPECT_EQ(group_of("/gpu/set_anything"), Group::gpu_control);
  EXPECT_EQ(group_of("/gpu/reset_anything"), Group::gpu_control);
  EXPECT_EQ(group_of("/v1/leases/take"), Group::gpu_control);
  EXPECT_EQ(group_of("/gpu/get_power"), Group::gpu_read);
  EXPECT_EQ(group_of("/cpu/get_power"), Group::cpu_read);
  EXPECT_EQ(group_of("/metrics"), std::nullopt);
  EXPECT_EQ(status(asked("/cpu/get_power"), local()), Status::not_found) << "a group that is not served";
}

}  // namespace
}  // namespace zeus::daemon
