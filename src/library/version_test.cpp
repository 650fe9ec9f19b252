#include <zeus/zeus.h>
#include <zeus/version.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace zeus {
namespace {

TEST(Version, OfTheLibraryIsThatOfTheHeadersItWasBuiltWith) {
  EXPECT_EQ(version(), header_version);
  EXPECT_EQ(version(), ZEUS_HEADER_VERSION);
}

TEST(Version, IsThreeNumbers) {
  EXPECT_EQ(std::ranges::count(version(), '.'), 2);
  EXPECT_TRUE(std::ranges::all_of(version(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); })) << version();
}

}  // namespace
}  // namespace zeus
