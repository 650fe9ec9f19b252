#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zeus {
namespace {

TEST(Printable, LeavesOrdinaryTextOfAnyLanguageAsItIs) {
  EXPECT_EQ(printable("--eta 0.5 ± 2 µJ, 数据, naïve, \U0001F600"), "--eta 0.5 ± 2 µJ, 数据, naïve, \U0001F600");
}

TEST(Printable, NothingInItMovesTheCursor) {
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string_view{"\0\x7f", 2}), "\\x00\\x7f");
  // Some terminals take this for ESC [; the next character changes the direction of writing.
  EXPECT_EQ(printable("\u009b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\u202e"), "\\xe2\\x80\\xae");
}

TEST(Printable, BytesThatAreNoUtf8AreSeen) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // an overlong encoding of a slash
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // one half of a surrogate pair
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(printable("caf\xc3"), "caf\\xc3");
}

TEST(Shortened, KeepsBothEndsOfWhatIsLong) {
  EXPECT_EQ(shortened("short", 5), "short");
  const std::string text = shortened("begin" + std::string(1000, '-') + "end", 45);
  EXPECT_EQ(text.size(), 45U);
  EXPECT_TRUE(text.starts_with("begin-"));
  EXPECT_TRUE(text.ends_with("-end"));
  EXPECT_NE(text.find(" ... "), std::string::npos);
}

TEST(Shortened, CutsNoCharacterInTwo) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "µ";
  }
  for (std::size_t most = 5; most < 40; ++most) {
    EXPECT_EQ(printable(shortened(text, most)), shortened(text, most)) << most;
  }
}

TEST(InQuotes, IsALineAtMost) {
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("two words"), "'two words'");
  EXPECT_LE(in_quotes(std::string(100'000, '\x1b')).size(), 90U);
}

}  // namespace
}  // namespace zeus
