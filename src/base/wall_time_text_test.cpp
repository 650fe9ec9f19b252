#include "base/wall_time_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace zeus {
namespace {

TEST(WallTimeText, IsUtcToTheSecond) {
  EXPECT_EQ(to_text(WallTime{1'795'284'000'999'999}), "2026-11-21T18:00:00Z");
  EXPECT_EQ(to_text(WallTime{}), "1970-01-01T00:00:00Z");
}

TEST(WallTimeText, ShowsATimeOutOfRangeAsTheNearestPossibleOne) {
  EXPECT_EQ(to_text(WallTime{std::numeric_limits<std::int64_t>::min()}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(WallTime{std::numeric_limits<std::int64_t>::max()}), "9999-12-31T23:59:59Z");
}

TEST(WallTimeText, ReadsBackOnlyItsOwnForm) {
  EXPECT_EQ(wall_time_from_text("2026-11-21T18:00:00Z"), WallTime{1'795'284'000'000'000});
  for (const std::string_view other :
       {"", "2026-11-21", "2026-11-21T18:00:00", "2026-11-21T18:00:00Z ", "2026-13-21T18:00:00Z",
        "2026-11-21T18:00:61Z", "1969-12-31T23:59:59Z", "26-11-21T18:00:00Z", "x"}) {
    EXPECT_EQ(wall_time_from_text(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace zeus
