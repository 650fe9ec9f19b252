#include "command_line/terminal_style.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace zeus::command_line {
namespace {

TerminalStyle style(std::string_view when, Environment::Variables variables, bool is_terminal = true) {
  return terminal_style(when, Environment{std::move(variables)}, is_terminal);
}

TEST(TerminalStyle, ATerminalHasColours) {
  EXPECT_TRUE(style("auto", {{"TERM", "xterm"}}).live);
  EXPECT_TRUE(style("auto", {{"TERM", "xterm"}}).colour);
  EXPECT_FALSE(style("auto", {{"TERM", "xterm"}}, false).live);
  EXPECT_FALSE(style("auto", {{"TERM", "xterm"}}, false).colour);
}

TEST(TerminalStyle, ADumbOrUnknownTerminalHasNoStyle) {
  for (const Environment::Variables& variables : {Environment::Variables{{"TERM", "dumb"}}, Environment::Variables{}}) {
    EXPECT_FALSE(style("auto", variables).live);
    EXPECT_FALSE(style("auto", variables).colour);
    EXPECT_FALSE(style("always", variables).live);
  }
}

TEST(TerminalStyle, ColoursCanBeRefusedAndForced) {
  EXPECT_FALSE(style("auto", {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).colour);
  EXPECT_TRUE(style("auto", {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).live);
  EXPECT_TRUE(style("auto", {{"TERM", "xterm"}, {"NO_COLOR", ""}}).colour);  // as if it were not there
  EXPECT_FALSE(style("never", {{"TERM", "xterm"}}).colour);
  EXPECT_TRUE(style("always", {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, false).colour);
}

}  // namespace
}  // namespace zeus::command_line
