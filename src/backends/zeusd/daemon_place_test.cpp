#include "backends/zeusd/daemon_place.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace zeus::backends::zeusd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// As Kubernetes mounts one: links of root's, in a folder in which everyone may make files of their own.
TEST_F(FindDaemonTest, ATokenThatRootMountedIsReadThroughItsLinks) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root has files of root";
  }
  namespace fs = std::filesystem;
  constexpr uid_t user = 65'532;
  const fs::path mount = folder_.path() / "mount";
  const fs::path token = mount / "..2026_11_27" / "token";
  fs::permissions(folder_.path(), fs::perms{0755});
  fs::create_directories(token.parent_path());
  fs::permissions(mount, fs::perms{01777});
  fs::permissions(token.parent_path(), fs::perms{0755});
  std::ofstream{token} << "mounted\n";
  fs::create_directory_symlink("..2026_11_27", mount / "..data");
  fs::create_symlink("..data/token", mount / "token");
  const auto token_for = [&](uid_t reader, mode_t mode) -> std::string {
    fs::permissions(token, fs::perms{mode});
    EXPECT_EQ(::seteuid(reader), 0);
    std::string found;
    try {
      found = zeusd_token(Environment{{{"ZEUSD_TOKEN_FILE", (mount / "token").string()}}});
    } catch (const Error& error) {
      found = error.what();
    }
    EXPECT_EQ(::seteuid(0), 0);
    return found;
  };
  EXPECT_EQ(token_for(user, 0444), "mounted");
  EXPECT_EQ(token_for(user, 0644), "mounted");
  EXPECT_EQ(token_for(0, 0400), "mounted");
  for (const auto& [reader, mode, why] :
       std::vector<std::tuple<uid_t, mode_t, const char*>>{{0, 0644, "is not secret"},
                                                           {user, 0666, "other users may write to it"},
                                                           {user, 0400, "Permission denied"}}) {
    EXPECT_THAT(token_for(reader, mode), AllOf(HasSubstr(why), HasSubstr("; ZEUSD_TOKEN_FILE has to name a file of")));
  }
  ASSERT_EQ(::lchown((mount / "token").c_str(), 65'533, 65'533), 0);
  EXPECT_THAT(token_for(user, 0444), HasSubstr("is a link"));
  fs::remove(mount / "token");
  fs::create_symlink("token", mount / "token");
  EXPECT_THAT(token_for(user, 0444), HasSubstr("is a link"));
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
