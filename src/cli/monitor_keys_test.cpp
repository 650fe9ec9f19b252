#include "cli/monitor_keys.hpp"

#include <gtest/gtest.h>

namespace zeus::cli {
namespace {

using enum MonitorKey;
using Keys = std::vector<MonitorKey>;

TEST(MonitorKeys, AreFoundInWhatTerminalsSend) {
  EXPECT_EQ(keys_in("q"), Keys{quit});
  EXPECT_EQ(keys_in("\x1b[A\x1b[Bkj"), (Keys{up, down, up, down}));
  EXPECT_EQ(keys_in("\x1bOA\x1b[5~\x1b[6~"), (Keys{up, page_up, page_down}));
  EXPECT_EQ(keys_in("\x1b[H\x1b[4~gG"), (Keys{top, bottom, top, bottom}));
}

TEST(MonitorKeys, OthersMeanNothing) {
  EXPECT_EQ(keys_in("xyz\x1b[1;5C\x1b[15~\x1b"), Keys{});
  EXPECT_EQ(keys_in("\x1b[1;2Q"), Keys{});  // ends with a letter that alone would quit
  EXPECT_EQ(keys_in("\x1b["), Keys{});
}

TEST(MonitorKeys, ScrollToBothEndsAndNoFurther) {
  EXPECT_EQ(scrolled(0, down, 64, 10), 1U);
  EXPECT_EQ(scrolled(0, up, 64, 10), 0U);
  EXPECT_EQ(scrolled(1, page_down, 64, 10), 11U);
  EXPECT_EQ(scrolled(50, page_down, 64, 10), 54U);
  EXPECT_EQ(scrolled(54, down, 64, 10), 54U);
  EXPECT_EQ(scrolled(5, page_up, 64, 10), 0U);
  EXPECT_EQ(scrolled(5, bottom, 64, 10), 54U);
  EXPECT_EQ(scrolled(54, top, 64, 10), 0U);
  EXPECT_EQ(scrolled(0, bottom, 4, 10), 0U);
}

}  // namespace
}  // namespace zeus::cli
