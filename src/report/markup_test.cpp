#include "report/markup.hpp"

#include <gtest/gtest.h>

namespace zeus::report {
namespace {

TEST(Markup, TextCannotBecomeMarkup) {
  EXPECT_EQ(escaped("<script>\"a\" & 'b'\n"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39; ");
}

TEST(Markup, CoordinatesAreShort) {
  EXPECT_EQ(coordinate(12.0), "12");
  EXPECT_EQ(coordinate(12.346), "12.35");
  EXPECT_EQ(coordinate(-0.0001), "0");
  EXPECT_EQ(coordinate(100), "100");
}

TEST(Markup, NumbersHaveFourDigitsOrSo) {
  EXPECT_EQ(readable(1410), "1410");
  EXPECT_EQ(readable(152.34), "152.3");
  EXPECT_EQ(readable(0.04321), "0.043");
  EXPECT_EQ(readable(0.0000432), "4.32e-05");
}

}  // namespace
}  // namespace zeus::report
