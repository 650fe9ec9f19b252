#include "tokens/base64url.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace zeus::tokens {
namespace {

// RFC 4648, 10, without the padding; the last ones show where its two alphabets differ.
TEST(Base64UrlTest, IsThatOfTheStandard) {
  EXPECT_EQ(to_base64url(""), "");
  EXPECT_EQ(to_base64url("f"), "Zg");
  EXPECT_EQ(to_base64url("fo"), "Zm8");
  EXPECT_EQ(to_base64url("foo"), "Zm9v");
  EXPECT_EQ(to_base64url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
}

TEST(Base64UrlTest, WhatIsWrittenIsReadAgain) {
  Random random{5};
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (std::uint64_t left = random.below(40); left > 0; --left) {
      bytes += static_cast<char>(random.below(256));
    }
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
}

TEST(Base64UrlTest, ThereIsOneTextForEachBytes) {
  for (const std::string_view text : {"Z", "Zh", "Zm9", "Zg==", "Zg=", "Zm9v\n", "Zm 9v", "+/8", "Zm9v!", "Zm9vZ"}) {
    EXPECT_EQ(from_base64url(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace zeus::tokens
