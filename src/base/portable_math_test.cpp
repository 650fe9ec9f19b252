#include "base/portable_math.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zeus {
namespace {

double relative_error(double actual, double expected) {
  return expected == 0.0 ? std::fabs(actual) : std::fabs(actual / expected - 1.0);
}

TEST(PortableMath, ExpAndLogAreAsCloseAsPromised) {
  Random random{1};
  for (int i = 0; i < 200'000; ++i) {
    const double x = random.uniform(-700.0, 700.0);
    EXPECT_LT(relative_error(portable::exp(x), std::exp(x)), 4e-16) << x;
    const double y = std::exp(x) * random.uniform();
    EXPECT_LT(relative_error(portable::log(y), std::log(y)), 4e-16) << y;
    const double near_one = random.uniform(0.5, 2.0);
    EXPECT_LT(relative_error(portable::log(near_one), std::log(near_one)), 4e-16) << near_one;
    const double small = random.uniform(-0.9, 3.0);
    EXPECT_LT(relative_error(portable::log1p(small), std::log1p(small)), 1e-15) << small;
    const double turns = random.uniform(-2.0, 2.0);
    EXPECT_NEAR(portable::sin_turns(turns), std::sin(turns * 6.283185307179586), 2e-15) << turns;
  }
}

TEST(PortableMath, TheEdgesAreThoseOfTheStandardLibrary) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable::exp(0.0), 1.0);
  EXPECT_EQ(portable::exp(infinity), infinity);
  EXPECT_EQ(portable::exp(-infinity), 0.0);
  EXPECT_EQ(portable::exp(710.0), infinity);
  EXPECT_GT(portable::exp(-744.0), 0.0);
  EXPECT_EQ(portable::exp(-746.0), 0.0);
  EXPECT_EQ(portable::log(1.0), 0.0);
  EXPECT_EQ(portable::log(0.0), -infinity);
  EXPECT_EQ(portable::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(portable::log(-1.0)));
  EXPECT_TRUE(std::isnan(portable::exp(std::nan(""))));
  constexpr double denormal = 5e-324;
  EXPECT_LT(relative_error(portable::log(denormal), std::log(denormal)), 4e-16);
  EXPECT_EQ(portable::log2(8.0), 3.0);
}

TEST(PortableMath, TheNormalDistributionAgreesWithTheErrorFunction) {
  for (int step = 0; step <= 3284; ++step) {
    const double x = -37.0 + 0.0137 * step;
    const double expected = 0.5 * std::erfc(-x / std::sqrt(2.0));
    EXPECT_LT(relative_error(portable::normal_cdf(x), expected), x < -8.0 ? 1e-12 : 4e-14) << x;
  }
  EXPECT_EQ(portable::normal_cdf(0.0), 0.5);
  EXPECT_EQ(portable::normal_cdf(-40.0), 0.0);
  EXPECT_EQ(portable::normal_cdf(40.0), 1.0);
}

TEST(PortableMath, TheQuantileInvertsTheDistribution) {
  for (int step = 0; step <= 751; ++step) {
    const double x = -8.0 + 0.0173 * step;
    EXPECT_NEAR(portable::normal_quantile(portable::normal_cdf(x)), x, 1e-9) << x;
  }
  EXPECT_NEAR(portable::normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_TRUE(std::isnan(portable::normal_quantile(1.5)));
}

}  // namespace
}  // namespace zeus
