#include "tokens/revocations.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::tokens {
namespace {

TEST(RevocationsTest, AreReadAndWrittenALineEach) {
  const Revocations revoked = Revocations::parse("# revoked\n\nb 100\r\n  a\t-  \nsha256:00ff 7");
  EXPECT_EQ(revoked.size(), 3U);
  EXPECT_TRUE(revoked.contains("a"));
  EXPECT_TRUE(revoked.contains("sha256:00ff"));
  EXPECT_FALSE(revoked.contains("revoked"));
  EXPECT_EQ(revoked.text(), "a -\nb 100\nsha256:00ff 7\n");
  EXPECT_EQ(Revocations::parse(revoked.text()), revoked);
}

TEST(RevocationsTest, ALineThatMakesNoSenseIsNamed) {
  for (const std::string_view line : {"a", "a b", "a 1 2", "a 1.5", "a 99999999999999999999", "\x01 1", "a -1x"}) {
    try {
      static_cast<void>(Revocations::parse("x 1\n" + std::string{line} + "\n"));
      ADD_FAILURE() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
      EXPECT_THAT(error.message(), testing::HasSubstr("line 2"));
    }
  }
}

TEST(RevocationsTest, ExpiredTokensAreDroppedAfterTheLeeway) {
  Revocations revoked;
  revoked.add("a", 100);
  revoked.add("b", std::nullopt);
  revoked.prune(160);
  EXPECT_TRUE(revoked.contains("a"));
  revoked.prune(161);
  EXPECT_FALSE(revoked.contains("a"));
  EXPECT_TRUE(revoked.contains("b"));
}

TEST(RevocationsTest, RevokedTwiceIsRevokedForTheLongerTime) {
  Revocations revoked;
  revoked.add("a", 100);
  revoked.add("a", 50);
  EXPECT_EQ(revoked.text(), "a 100\n");
  revoked.add("a", std::nullopt);
  revoked.add("a", 200);
  EXPECT_EQ(revoked.text(), "a -\n");
}

TEST(RevocationsTest, AnIdIsOneWord) {
  Revocations revoked;
  for (const std::string_view id : {"", "a b", "a\n", "#a", "\xff"}) {
    EXPECT_THROW(revoked.add(id, 1), Error) << id;
  }
  EXPECT_THROW(revoked.add(std::string(129, 'a'), 1), Error);
}

}  // namespace
}  // namespace zeus::tokens
