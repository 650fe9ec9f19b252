#include "optimize/power_limit/limit_grid.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LimitGrid, GoesDownInStepsFromTheHighestAllowedLimit) {
  EXPECT_THAT(limits_to_try({}, 190_W, 260_W, {}), ElementsAre(260_W, 235_W, 210_W));
  EXPECT_THAT(limits_to_try({.step = 35_W}, 190_W, 260_W, {}), ElementsAre(260_W, 225_W, 190_W));
}

TEST(LimitGrid, StaysWithinWhatTheUserAndAllGpusAllow) {
  EXPECT_THAT(limits_to_try({.lowest = 200_W, .highest = 250_W}, 100_W, 300_W, {}), ElementsAre(250_W, 225_W, 200_W));
  EXPECT_THAT(limits_to_try({.lowest = 50_W, .highest = 500_W}, 280_W, 300_W, {}), ElementsAre(300_W));
}

TEST(LimitGrid, IncludesTheLimitInForceOnce) {
  EXPECT_THAT(limits_to_try({}, 250_W, 300_W, 260_W), ElementsAre(300_W, 275_W, 250_W, 260_W));
  EXPECT_THAT(limits_to_try({}, 250_W, 300_W, 275_W), ElementsAre(300_W, 275_W, 250_W));
  EXPECT_THAT(limits_to_try({.highest = 250_W}, 225_W, 300_W, 275_W), ElementsAre(250_W, 225_W));
}

TEST(LimitGrid, UsesTheUsersOwnLimitsThatAreAllowed) {
  EXPECT_THAT(limits_to_try({.limits = {90_W, 120_W, 301_W, 300_W}}, 100_W, 300_W, 260_W), ElementsAre(120_W, 300_W));
  EXPECT_THAT(limits_to_try({.limits = {90_W}}, 100_W, 300_W, {}), IsEmpty());
}

TEST(LimitGrid, ReportsTheAllowedLimitsIfNoneFits) {
  try {
    static_cast<void>(limits_to_try({.lowest = 310_W}, 100_W, 300_W, {}));
    FAIL() << "no limit lies in both ranges";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("between 310 W and 300 W"));
    EXPECT_THAT(error.what(), HasSubstr("they have 100 W to 300 W in common"));
  }
}

}  // namespace
}  // namespace zeus::optimize
