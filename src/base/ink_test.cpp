#include "base/ink.hpp"

#include <gtest/gtest.h>

namespace zeus {
namespace {

TEST(Ink, HighlightsWordsIfThereAreColoursAndLeavesThemAloneOtherwise) {
  EXPECT_EQ(inked("wrong", Ink::red, true), "\x1b[31mwrong\x1b[0m");
  EXPECT_EQ(inked("wrong", Ink::red, false), "wrong");
  EXPECT_EQ(inked("usual", Ink::plain, true), "usual");
}

}  // namespace
}  // namespace zeus
