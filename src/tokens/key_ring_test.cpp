#include "tokens/key_ring.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zeus::tokens {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;

class KeyRingTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view bytes, perms who = perms::owner_read | perms::owner_write) {
    const std::filesystem::path file = folder_.path() / name;
    std::ofstream{file} << bytes;
    std::filesystem::permissions(file, who);
  }
  [[nodiscard]] KeyRing read(const std::string& name = {}) const {
    return read_keys(name.empty() ? folder_.path() : folder_.path() / name, ::geteuid());
  }
  ErrorKind refusal(const std::string& name = {}) {
    try {
      static_cast<void>(read(name));
    } catch (const Error& error) {
      said_ = error.what();
      return error.kind();
    }
    ADD_FAILURE() << name << " is taken";
    return ErrorKind::internal;
  }

  test::TemporaryFolder folder_;
  std::string said_;
};

TEST_F(KeyRingTest, AFileIsOneKeyWithoutAnIdWithAllItsBytes) {
  write("key", "secret\n");
  const KeyRing ring = read("key");
  ASSERT_EQ(ring.keys.size(), 1U);
  EXPECT_EQ(ring.key().id(), "");
  EXPECT_EQ(ring.key().sign("x"), Key("", "secret\n").sign("x"));
  EXPECT_NE(ring.key().sign("x"), Key("", "secret").sign("x"));
}

TEST_F(KeyRingTest, InAFolderEachFileIsAKeyAndTheLastSignsNewTokens) {
  write("2026-11", "b");
  write("2026-05", "a");
  write(".hidden", "c");
  const KeyRing ring = read();
  ASSERT_EQ(ring.keys.size(), 2U);
  EXPECT_EQ(ring.keys[0].id(), "2026-05");
  EXPECT_EQ(ring.key().id(), "2026-11");
  EXPECT_EQ(ring.key("2026-05").sign("x"), Key("", "a").sign("x"));
  EXPECT_THROW(static_cast<void>(ring.key("2025")), Error);
}

TEST_F(KeyRingTest, RefusesKeysThatOthersMayReadOrWrite) {
  const perms own = perms::owner_read | perms::owner_write;
  for (const perms others : {perms::group_read, perms::others_read, perms::group_write, perms::others_write}) {
    write("key", "secret", own | others);
    EXPECT_EQ(refusal("key"), ErrorKind::permission_denied);
    EXPECT_THAT(said_, testing::Not(HasSubstr("secret is")));
  }
  write("key", "secret", own);
  EXPECT_EQ(read("key").keys.size(), 1U);
  std::filesystem::create_symlink(folder_.path() / "key", folder_.path() / "link");
  EXPECT_EQ(refusal("link"), ErrorKind::permission_denied);
}

TEST_F(KeyRingTest, AnEmptyKeyIsRefused) {
  for (const std::string_view bytes : {"", "\n", "\r\n"}) {
    write("key", bytes);
    EXPECT_EQ(refusal("key"), ErrorKind::invalid_argument);
    EXPECT_THROW(Key("", std::string{bytes}), Error);
  }
}

TEST_F(KeyRingTest, ReportsAMissingKey) {
  EXPECT_EQ(refusal("key"), ErrorKind::not_found);
  EXPECT_THAT(said_, HasSubstr("key"));
  EXPECT_EQ(refusal(), ErrorKind::not_found);
}

TEST_F(KeyRingTest, RefusesAFileWhoseNameIsNotAnId) {
  write("a b", "secret");
  EXPECT_EQ(refusal(), ErrorKind::invalid_argument);
}

// The signatures are those of Python's hmac (token_test.cpp); here, only which signature belongs to which key.
TEST_F(KeyRingTest, ASignatureByTheKeyWithoutItsLineEndIsTakenToo) {
  const Key line{"", "secret\n"};
  EXPECT_TRUE(line.verify("x", line.sign("x")));
  EXPECT_TRUE(line.verify("x", Key("", "secret").sign("x")));
  EXPECT_TRUE(Key("", "secret\r\n").verify("x", Key("", "secret").sign("x")));
  EXPECT_FALSE(Key("", "secret").verify("x", line.sign("x")));
  EXPECT_FALSE(Key("", "secret\n\n").verify("x", Key("", "secret").sign("x")));
  EXPECT_FALSE(line.verify("y", line.sign("x")));
  EXPECT_FALSE(line.verify("x", line.sign("x").substr(1)));
  EXPECT_FALSE(line.verify("x", ""));
}

}  // namespace
}  // namespace zeus::tokens
