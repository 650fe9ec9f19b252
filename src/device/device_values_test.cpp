#include <zeus/device_values.hpp>

#include <gtest/gtest.h>

namespace zeus {
namespace {

TEST(ThrottleReasons, AreListedInWords) {
  ThrottleReasons reasons;
  EXPECT_EQ(to_string(reasons), "none");
  reasons.add(ThrottleReason::software_thermal);
  reasons.add(ThrottleReason::power_cap);
  EXPECT_EQ(to_string(reasons), "power cap, software thermal");
  EXPECT_TRUE(reasons.has(ThrottleReason::power_cap));
  EXPECT_FALSE(reasons.has(ThrottleReason::idle));
}

}  // namespace
}  // namespace zeus
