#include "remote_jobs/server_address.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace zeus::remote_jobs {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ServerAddress, IsAHostWithOrWithoutAPort) {
  EXPECT_EQ(server_address("http://node7:8470", Environment{}).endpoint.host_port, "node7:8470");
  EXPECT_EQ(server_address("http://node7", Environment{}).endpoint.host_port, "node7:80");
  EXPECT_EQ(server_address("http://[::1]:8470", Environment{}).endpoint.host_port, "[::1]:8470");
  EXPECT_EQ(server_address("http://[::1]", Environment{}).endpoint.host_port, "[::1]:80");
}

TEST(ServerAddress, MayHaveAPrefixForAllPaths) {
  EXPECT_EQ(server_address("http://proxy/zeus/", Environment{}).prefix, "/zeus");
  EXPECT_EQ(server_address("http://proxy/", Environment{}).prefix, "");
}

TEST(ServerAddress, HasItsTokenAsItsPasswordAndShowsItNowhere) {
  const ServerAddress address = server_address("http://ann:to%2Fken@node7:8470", Environment{});
  EXPECT_EQ(address.token, "to/ken");
  EXPECT_EQ(address.endpoint.host_port, "node7:8470");
  EXPECT_EQ(address.shown, "http://node7:8470");
}

TEST(ServerAddress, IsASocketAfterUnix) {
  EXPECT_EQ(server_address("unix:/run/zeus.sock", Environment{}).endpoint.unix_path, "/run/zeus.sock");
}

TEST(ServerAddress, ThatIsInvalidIsRefusedWithoutShowingItsToken) {
  for (const std::string text :
       {"", "node7:8470", "ftp://node7", "http://", "http://:8470", "http://node7:port", "http://node7:", "http://[::1",
        "http://node7?x=1", "unix:relative", "http://ann:secret%@node7", "http://ann:secret@"}) {
    try {
      server_address(text, Environment{});
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument) << text;
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
      EXPECT_FALSE(error.advice().empty());
    }
  }
}

TEST(ServerAddress, WithTlsHasAuthoritiesAndItsOwnPort) {
  const ServerAddress address = server_address("https://ann:secret@node7/zeus", Environment{});
  EXPECT_EQ(address.endpoint.host_port, "node7:443");
  EXPECT_EQ(address.shown, "https://node7/zeus");
  EXPECT_NE(address.authorities, nullptr);
  EXPECT_EQ(server_address("https://node7:8443", Environment{}).endpoint.host_port, "node7:8443");
  EXPECT_EQ(server_address("http://node7", Environment{}).authorities, nullptr);
}

TEST(ServerAddress, NeedsNoAuthoritiesWithoutTls) {
  const Environment environment{{{"ZEUS_CA_FILE", "/nowhere/ca.pem"}}};
  EXPECT_EQ(server_address("http://node7", environment).shown, "http://node7");
  try {
    server_address("https://node7", environment);
    ADD_FAILURE() << "a file that is not there was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(std::string{error.what()},
              "the certificates in '/nowhere/ca.pem' cannot be read: No such file or directory; set ZEUS_CA_FILE to a "
              "file of "
              "certificates in PEM form, or unset it");
  }
}

}  // namespace
}  // namespace zeus::remote_jobs
