#include "base/shell_word.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace zeus {
namespace {

// What a real shell makes of it.
std::string as_the_shell_takes(const std::string& word) {
  FILE* const shell = ::popen(("printf %s " + word).c_str(), "r");
  std::string taken;
  for (int letter = std::fgetc(shell); letter != EOF; letter = std::fgetc(shell)) {
    taken += static_cast<char>(letter);
  }
  ::pclose(shell);
  return taken;
}

TEST(ShellWord, IsTakenAsItIsByAShell) {
  for (const std::string word :
       {"", "plain", "two words", "it's", "''", "$HOME `id` \\ \"x\" *", "line\nbreak", "-n", "a;b|c&"}) {
    EXPECT_EQ(as_the_shell_takes(shell_word(word)), word);
    EXPECT_EQ(as_the_shell_takes(shell_quoted(word)), word);
  }
}

TEST(ShellWord, IsQuotedOnlyWhereAPersonWouldHaveTo) {
  EXPECT_EQ(shell_word("runs/nightly-2.sqlite"), "runs/nightly-2.sqlite");
  EXPECT_EQ(shell_word("eta = 0.7"), "'eta = 0.7'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_quoted("plain"), "'plain'");
}

}  // namespace
}  // namespace zeus
