#include "optimize/cost/selector.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace zeus::optimize {
namespace {

using records::LimitProfile;

// Energies of an epoch: 1800, 1560 and 2000 J.
const std::array<LimitProfile, 3> profiles = {LimitProfile{100_W, 20_s, 90_W}, LimitProfile{150_W, 12_s, 130_W},
                                              LimitProfile{250_W, 10_s, 200_W}};

TEST(Selector, EachPicksWhatItsNamePromises) {
  EXPECT_EQ(select(select_time(), profiles), 2U);
  EXPECT_EQ(select(select_energy(), profiles), 1U);
  EXPECT_EQ(select(select_zeus_cost(0), profiles), 2U);
  EXPECT_EQ(select(select_zeus_cost(1), profiles), 1U);
}

TEST(Selector, MaxSlowdownSavesEnergyWithinItsBound) {
  EXPECT_EQ(select(select_max_slowdown(1.0), profiles), 2U);
  EXPECT_EQ(select(select_max_slowdown(1.19), profiles), 2U);
  EXPECT_EQ(select(select_max_slowdown(1.2), profiles), 1U);
  EXPECT_EQ(select(select_max_slowdown(9), profiles), 1U);
}

TEST(Selector, EnergyDecidesBetweenEqualTimes) {
  const std::array<LimitProfile, 2> flat = {LimitProfile{250_W, 10_s, 60_W}, LimitProfile{100_W, 10_s, 50_W}};
  EXPECT_EQ(select(select_time(), flat), 1U);
}

TEST(Selector, UsersMaySupplyTheirOwn) {
  const Selector lowest = [](std::span<const LimitProfile>) { return std::size_t{0}; };
  EXPECT_EQ(select(lowest, profiles), 0U);
}

TEST(Selector, RefusesInvalidFactorsAndAnswers) {
  EXPECT_THROW(select_max_slowdown(0.99), Error);
  EXPECT_THROW(select_max_slowdown(std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(select_zeus_cost(2), Error);
  EXPECT_THROW(select(select_time(), {}), Error);
  EXPECT_THROW(select([](std::span<const LimitProfile>) { return std::size_t{3}; }, profiles), Error);
}

}  // namespace
}  // namespace zeus::optimize
