#include "backends/zeusd/daemon_place.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace zeus::backends::zeusd {
namespace {

class FindDaemonTest : public ::testing::Test {
 protected:
  void may_set_gpus(bool may) {
    machine_.write_durably("proc/self/status", may ? "CapEff:\t000001ffffffffff\n" : "CapEff:\t0000000000000000\n");
  }
  void has_usual_socket() { machine_.write_durably("run/zeusd/zeusd.sock", ""); }
  [[nodiscard]] std::optional<DaemonPlace> find(Environment::Variables variables) const {
    return find_daemon(Environment{std::move(variables)}, machine_);
  }

  test::TemporaryFolder folder_;
  FileTree machine_{folder_.path()};
};

TEST_F(FindDaemonTest, TheSocketThatIsNamedComesFirst) {
  const auto place = find({{"ZEUSD_SOCK_PATH", "/a.sock"}, {"ZEUSD_HOST_PORT", "node:1"}, {"ZEUSD_TOKEN", "t"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->endpoint.unix_path, "/a.sock");
  EXPECT_EQ(place->token, "");
  EXPECT_TRUE(place->is_asked_for);
}

TEST_F(FindDaemonTest, ANodeIsAskedWithTheToken) {
  machine_.write_durably("token", "from-a-file\n");
  const std::string file = (folder_.path() / "token").string();
  auto place = find({{"ZEUSD_HOST_PORT", "node:1"}, {"ZEUSD_TOKEN", " t \n"}, {"ZEUSD_TOKEN_FILE", file}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->endpoint.host_port, "node:1");
  EXPECT_EQ(place->token, "t");
  EXPECT_EQ(find({{"ZEUSD_HOST_PORT", "node:1"}, {"ZEUSD_TOKEN_FILE", file}})->token, "from-a-file");
  EXPECT_EQ(find({{"ZEUSD_HOST_PORT", "node:1"}})->token, "");
  EXPECT_THROW(static_cast<void>(find({{"ZEUSD_HOST_PORT", "node:1"}, {"ZEUSD_TOKEN_FILE", file + ".not"}})), Error);
  const std::string relative = std::filesystem::relative(file).string();
  EXPECT_EQ(zeusd_token(Environment{{{"ZEUSD_TOKEN_FILE", relative}}}), "from-a-file");
  std::filesystem::permissions(file, std::filesystem::perms{0640});
  EXPECT_THROW(static_cast<void>(zeusd_token(Environment{{{"ZEUSD_TOKEN_FILE", file}}})), Error);
}

TEST_F(FindDaemonTest, TheUsualSocketIsForUsersWhoMayNotSetGpus) {
  may_set_gpus(false);
  EXPECT_FALSE(find({}));
  has_usual_socket();
  const auto place = find({});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->endpoint.unix_path, (folder_.path() / "run/zeusd/zeusd.sock").string());
  EXPECT_FALSE(place->is_asked_for);
  may_set_gpus(true);
  EXPECT_FALSE(find({}));
}

TEST_F(FindDaemonTest, AnEmptyVariableMeansNoDaemon) {
  may_set_gpus(false);
  has_usual_socket();
  EXPECT_FALSE(find({{"ZEUSD_SOCK_PATH", ""}}));
  EXPECT_FALSE(find({{"ZEUSD_SOCK_PATH", ""}, {"ZEUSD_HOST_PORT", "node:1"}}));
  EXPECT_FALSE(find({{"ZEUSD_HOST_PORT", ""}}));
}

}  // namespace
}  // namespace zeus::backends::zeusd
