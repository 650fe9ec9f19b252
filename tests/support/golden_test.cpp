#include "tests/support/golden.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace zeus::test {
namespace {

TEST(Golden, EqualStringsDoNotDiffer) {
  EXPECT_EQ(golden_difference("x", "a\nb\n", "a\nb\n"), "");
}

TEST(Golden, TheFirstDifferingLineIsShownWithTheWayToAcceptIt) {
  const std::string difference = golden_difference("cli/x.txt", "a\nb\nc\n", "a\nB\nC\n");
  EXPECT_NE(difference.find("tests/golden/cli/x.txt:2 differs"), std::string::npos) << difference;
  EXPECT_NE(difference.find("golden: b"), std::string::npos) << difference;
  EXPECT_NE(difference.find("actual: B"), std::string::npos) << difference;
  EXPECT_NE(difference.find("make golden"), std::string::npos) << difference;
}

TEST(Golden, MissingAndAdditionalLinesDiffer) {
  EXPECT_NE(golden_difference("x", "a\nb\n", "a\n"), "");
  EXPECT_NE(golden_difference("x", "a\n", "a\nb\n"), "");
  EXPECT_NE(golden_difference("x", "a\n", "a"), "");
  EXPECT_NE(golden_difference("x", "", "a\n"), "");
}

// The guard's own test: output that has changed makes the test that prints it fail.
TEST(Golden, ChangedOutputFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(expect_golden("support/greeting.txt", "good evening\n"), "golden: good morning");
  expect_golden("support/greeting.txt", "good morning\n");
}

TEST(Golden, AMissingFileFailsTheTest) {
  EXPECT_FATAL_FAILURE(expect_golden("support/no-such-file.txt", "anything"), "run `make golden`");
}

}  // namespace
}  // namespace zeus::test
