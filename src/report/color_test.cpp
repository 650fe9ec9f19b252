#include "report/color.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

TEST(Color, HeatIsClampedToItsFirstAndLastStop) {
  EXPECT_EQ(to_css(heat(0)), "#3e2d78");
  EXPECT_EQ(to_css(heat(1)), "#fae032");
  EXPECT_EQ(to_css(heat(-3)), to_css(heat(0)));
  EXPECT_EQ(to_css(heat(7)), to_css(heat(1)));
}

TEST(Color, InkIsReadable) {
  EXPECT_EQ(ink_on(heat(0)), "#fff");
  EXPECT_EQ(ink_on(heat(1)), "#111");
}

}  // namespace
}  // namespace zeus::report
