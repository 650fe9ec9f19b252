#include "backends/commands/word_split.hpp"

#include <gtest/gtest.h>

namespace zeus::backends::commands {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view line) {
  const SplitLine done = split_words(line);
  EXPECT_EQ(done.fault, "") << line;
  return done.words;
}

TEST(WordSplit, BlanksAreBetweenWords) {
  EXPECT_EQ(split("nvidia-smi -i 0  -pl\t200\n"), (Words{"nvidia-smi", "-i", "0", "-pl", "200"}));
  EXPECT_EQ(split(""), Words{});
  EXPECT_EQ(split(" \t\n"), Words{});
}

TEST(WordSplit, QuotesKeepWordsTogether) {
  EXPECT_EQ(split("a 'b  c' \"d e\""), (Words{"a", "b  c", "d e"}));
  EXPECT_EQ(split("a'b'\"c\"d"), Words{"abcd"});
  EXPECT_EQ(split("'' a \"\""), (Words{"", "a", ""}));
  EXPECT_EQ(split("'a\"b' \"c'd\""), (Words{"a\"b", "c'd"}));
}

TEST(WordSplit, ABackslashKeepsTheNextLetter) {
  EXPECT_EQ(split(R"(a\ b \'c \\d \x)"), (Words{"a b", "'c", "\\d", "x"}));
  EXPECT_EQ(split("a\\\nb"), Words{"ab"});
}

TEST(WordSplit, InSingleQuotesNothingIsEscaped) {
  EXPECT_EQ(split(R"('a\b\\')"), Words{R"(a\b\\)"});
}

TEST(WordSplit, InDoubleQuotesOnlyTheShellsSpecialCharactersAreEscaped) {
  EXPECT_EQ(split(R"("\$a \`b \"c \\d \x \'")"), Words{R"($a `b "c \d \x \')"});
  EXPECT_EQ(split("\"a\\\nb\""), Words{"ab"});
}

TEST(WordSplit, ShellExpansionsAndOperatorsStandForThemselves) {
  EXPECT_EQ(split("a $HOME *.c ~ `id` $(id) | b > c; d && e &"),
            (Words{"a", "$HOME", "*.c", "~", "`id`", "$(id)", "|", "b", ">", "c;", "d", "&&", "e", "&"}));
}

TEST(WordSplit, ACommentEndsWithItsLine) {
  EXPECT_EQ(split("a b#c # d 'e\nf"), (Words{"a", "b#c", "f"}));
  EXPECT_EQ(split("a \"\"#b \\#c '#d'"), (Words{"a", "#b", "#c", "#d"}));
  EXPECT_EQ(split("# all of it"), Words{});
}

TEST(WordSplit, WhatIsNotClosedIsRefused) {
  EXPECT_EQ(split_words("a 'b").fault, "a single quote is not closed");
  EXPECT_EQ(split_words("a \"b\\\"").fault, "a double quote is not closed");
  EXPECT_EQ(split_words("a \"b\\").fault, "a double quote is not closed");
  EXPECT_EQ(split_words("a b\\").fault, "it ends with a backslash");
  EXPECT_TRUE(split_words("a b\\").words.empty());
}

TEST(WordSplit, NoWordHasAByteOfZero) {
  using namespace std::string_view_literals;
  for (const std::string_view line : {"a\0b"sv, "'a\0b'"sv, "\"a\0b\""sv, "a\\\0b"sv}) {
    EXPECT_EQ(split_words(line).fault, "it contains a zero byte");
  }
}

}  // namespace
}  // namespace zeus::backends::commands
