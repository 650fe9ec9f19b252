#include "optimize/cost/limit_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace zeus::optimize {
namespace {

using records::LimitProfile;

std::vector<Watts> limits_of(const std::vector<LimitProfile>& limits) {
  std::vector<Watts> all;
  for (const LimitProfile& one : limits) {
    all.push_back(one.limit);
  }
  return all;
}

TEST(LimitOrder, LimitsInOrderStayUnchanged) {
  const std::vector<LimitProfile> limits{{100_W, 12_s, 90_W}, {150_W, 10_s, 140_W}, {200_W, 10_s, 150_W}};
  EXPECT_EQ(in_order(limits), limits);
  EXPECT_FALSE(contradicts_itself(limits));
}

// The times of 9, 11 and 10 s all become 10 s; the 8 s at the highest limit stay.
TEST(LimitOrder, NeighboursInTheWrongOrderGetTheirMean) {
  const std::vector<LimitProfile> limits{
      {100_W, 9_s, 90_W}, {150_W, 11_s, 85_W}, {200_W, 10_s, 140_W}, {250_W, 8_s, 200_W}};
  const std::vector<LimitProfile> ordered = in_order(limits);
  const std::vector<double> times{10.0, 10.0, 10.0, 8.0};
  const std::vector<double> powers{87.5, 87.5, 140.0, 200.0};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_NEAR(ordered[i].epoch_time.value(), times[i], 1e-12);
    EXPECT_NEAR(ordered[i].average_power.value(), powers[i], 1e-12);
  }
}

// 6 s at the lowest limit is impossible, because every other limit takes longer. A difference of up to a fifth may be
// an error.
TEST(LimitOrder, DropsTheLimitThatContradictsTheOthers) {
  std::vector<LimitProfile> limits{
      {100_W, 6_s, 90_W}, {150_W, 9.5_s, 140_W}, {200_W, 10_s, 150_W}, {250_W, 8_s, 200_W}};
  EXPECT_TRUE(contradicts_itself(limits));
  drop_contradictions(limits);
  EXPECT_EQ(limits_of(limits), (std::vector{150_W, 200_W, 250_W}));
}

TEST(LimitOrder, DropsAHighestLimitThatIsTooSlow) {
  std::vector<LimitProfile> limits{{100_W, 11_s, 90_W}, {150_W, 10_s, 140_W}, {250_W, 14_s, 200_W}};
  drop_contradictions(limits);
  EXPECT_EQ(limits_of(limits), (std::vector{100_W, 150_W}));
}

TEST(LimitOrder, DropsTheLowerOfTwoThatContradictEachOther) {
  std::vector<LimitProfile> limits{{100_W, 5_s, 90_W}, {250_W, 10_s, 200_W}};
  drop_contradictions(limits);
  EXPECT_EQ(limits_of(limits), std::vector{250_W});
}

}  // namespace
}  // namespace zeus::optimize
