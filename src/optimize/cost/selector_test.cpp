#include "optimize/cost/selector.hpp"

#include "tests/support/three_limits.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace zeus::optimize {
namespace {

using records::LimitProfile;
using test::three_limits;

TEST(Selector, EachPicksWhatItsNamePromises) {
  EXPECT_EQ(select(select_time(), three_limits), 2U);
  EXPECT_EQ(select(select_energy(), three_limits), 1U);
  EXPECT_EQ(select(select_zeus_cost(0), three_limits), 2U);
  EXPECT_EQ(select(select_zeus_cost(1), three_limits), 1U);
}

TEST(Selector, MaxSlowdownSavesEnergyWithinItsBound) {
  EXPECT_EQ(select(select_max_slowdown(1.0), three_limits), 2U);
  EXPECT_EQ(select(select_max_slowdown(1.19), three_limits), 2U);
  EXPECT_EQ(select(select_max_slowdown(1.2), three_limits), 1U);
  EXPECT_EQ(select(select_max_slowdown(9), three_limits), 1U);
}

TEST(Selector, EnergyDecidesBetweenEqualTimes) {
  const std::array<LimitProfile, 2> flat = {LimitProfile{250_W, 10_s, 60_W}, LimitProfile{100_W, 10_s, 50_W}};
  EXPECT_EQ(select(select_time(), flat), 1U);
}

TEST(Selector, UsersMaySupplyTheirOwn) {
  const Selector lowest = [](std::span<const LimitProfile>) { return std::size_t{0}; };
  EXPECT_EQ(select(lowest, three_limits), 0U);
}

TEST(Selector, RefusesInvalidFactorsAndAnswers) {
  EXPECT_THROW(select_max_slowdown(0.99), Error);
  EXPECT_THROW(select_max_slowdown(std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(select_zeus_cost(2), Error);
  EXPECT_THROW(select(select_time(), {}), Error);
  EXPECT_THROW(select([](std::span<const LimitProfile>) { return std::size_t{3}; }, three_limits), Error);
}

}  // namespace
}  // namespace zeus::optimize
