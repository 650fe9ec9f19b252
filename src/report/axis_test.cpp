#include "report/axis.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

std::string axis_labels(const Axis& axis, int wanted) {
  std::string text;
  for (const Tick& tick : axis.ticks(wanted)) {
    text += tick.label + " ";
  }
  return text;
}

TEST(Axis, DrawsItsEndsAtTheGivenCoordinates) {
  const Axis axis{10, 20, 100, 0};
  EXPECT_EQ(axis.at(10), 100);
  EXPECT_EQ(axis.at(20), 0);
  EXPECT_EQ(axis.at(15), 50);
}

TEST(Axis, TicksAreRoundNumbersWithinTheRange) {
  EXPECT_EQ(axis_labels({0, 10, 0, 1}, 5), "0 2 4 6 8 10 ");
  EXPECT_EQ(axis_labels({1.512, 3.044, 0, 1}, 6), "2.0 2.5 3.0 ");
  EXPECT_EQ(axis_labels({0.0101, 0.0149, 0, 1}, 5), "0.011 0.012 0.013 0.014 ");
  EXPECT_EQ(axis_labels({-1, 1, 0, 1}, 4), "-1.0 -0.5 0.0 0.5 1.0 ");
}

TEST(Axis, ARangeOfNoWidthIsWidened) {
  const Axis axis{3, 3, 0, 100};
  EXPECT_DOUBLE_EQ(axis.at(3), 50);
  EXPECT_FALSE(axis.ticks(5).empty());
}

}  // namespace
}  // namespace zeus::report
