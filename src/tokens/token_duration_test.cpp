#include "tokens/token_duration.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::tokens {
namespace {

TEST(TokenDurationTest, NeverIsAWord) {
  for (const std::string_view text : {"never", "Never", " NEVER "}) {
    EXPECT_EQ(parse_token_duration(text), std::nullopt) << text;
  }
}

TEST(TokenDurationTest, PartsAddUp) {
  EXPECT_EQ(parse_token_duration("90s"), 90);
  EXPECT_EQ(parse_token_duration("1h"), 3600);
  EXPECT_EQ(parse_token_duration("7d"), 604800);
  EXPECT_EQ(parse_token_duration("1h 30m"), 5400);
  EXPECT_EQ(parse_token_duration("1h30m"), 5400);
  EXPECT_EQ(parse_token_duration("2weeks"), 1209600);
  EXPECT_EQ(parse_token_duration("2 Weeks"), 1209600);
  EXPECT_EQ(parse_token_duration("1month"), 2630016);
  EXPECT_EQ(parse_token_duration("1year"), 31557600);
  EXPECT_EQ(parse_token_duration("1hour 12min 5s"), 4325);
  EXPECT_EQ(parse_token_duration("0s"), 0);
}

TEST(TokenDurationTest, PartsOfASecondAreCutOffAtTheEnd) {
  EXPECT_EQ(parse_token_duration("999ms"), 0);
  EXPECT_EQ(parse_token_duration("500ms 500ms"), 1);
  EXPECT_EQ(parse_token_duration("1500msec 400000us 100000000ns"), 2);
}

TEST(TokenDurationTest, AnythingElseIsRefused) {
  for (const std::string_view text :
       {"", " ", "0", "1", "00", "h", "1x", "-1h", "1.5h", "1h30", "1h,30m", "never 1h", "1hh", "s1",
        "99999999999999999999s", "18446744073709551615y", "9223372036854775807s", "1\xff"}) {
    EXPECT_THROW(parse_token_duration(text), Error) << text;
  }
}

}  // namespace
}  // namespace zeus::tokens
