#include "serving/estimates.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zeus::serving {
namespace {

TEST(Ratio, IsThatOfTheSumsAndExactIfThePartsAgree) {
  const auto exact = ratio(std::vector{2.0, 4.0, 6.0}, std::vector{1.0, 2.0, 3.0});
  ASSERT_TRUE(exact);
  EXPECT_DOUBLE_EQ(exact->value, 2.0);
  EXPECT_NEAR(exact->half_width, 0.0, 1e-12);
}

TEST(Ratio, IsUnknownForTooFewPartsOrOfNothing) {
  EXPECT_FALSE(ratio(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}));
  EXPECT_FALSE(ratio(std::vector{1.0, 2.0, 3.0}, std::vector{0.0, 0.0, 0.0}));
}

// How often the interval of a mean holds 0, if each part shares `kept` of its value with the one before.
double held_with(double kept, std::uint64_t seed) {
  constexpr int runs = 2000;
  constexpr int parts = 20;
  int held = 0;
  for (int run = 0; run < runs; ++run) {
    Random random{seed, static_cast<std::uint64_t>(run)};
    std::vector<double> above;
    double value = random.normal();
    for (int part = 0; part < parts; ++part) {
      const double fresh = random.normal();
      value = kept * value + std::sqrt(1 - kept * kept) * fresh;
      above.push_back(value);
    }
    const auto found = ratio(above, std::vector<double>(parts, 1.0));
    held += std::abs(found->value) <= found->half_width ? 1 : 0;
  }
  return static_cast<double>(held) / runs;
}

TEST(Ratio, ItsIntervalHoldsTheTrueValueAsOftenAsItSays) {
  EXPECT_NEAR(held_with(0.0, 1), 0.95, 0.03);
}

TEST(Ratio, ItsIntervalIsWiderIfNeighboursAreAlike) {
  EXPECT_GE(held_with(0.4, 2), 0.9);
}

std::vector<PartValue> drawn_values(std::uint64_t seed, std::size_t parts, std::size_t each) {
  Random random{seed};
  std::vector<PartValue> values;
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t i = 0; i < each; ++i) {
      values.push_back({.value = random.uniform(), .part = part});
    }
  }
  std::ranges::sort(values, {}, &PartValue::value);
  return values;
}

TEST(PercentileOf, ItsIntervalHoldsTheTrueOne) {
  int held = 0;
  for (std::uint64_t run = 0; run < 1000; ++run) {
    const auto found = percentile(drawn_values(run, 20, 20), 20, 0.9);
    ASSERT_TRUE(found && found->low && found->high);
    held += *found->low <= 0.9 && 0.9 <= *found->high ? 1 : 0;
  }
  EXPECT_GE(held, 930);
}

TEST(PercentileOf, LiesBetweenTwoValuesInProportion) {
  const std::vector<PartValue> values{{.value = 1, .part = 0}, {.value = 2, .part = 1}, {.value = 4, .part = 2}};
  EXPECT_DOUBLE_EQ(percentile(values, 3, 0.5)->value, 2.0);
  EXPECT_DOUBLE_EQ(percentile(values, 3, 0.9)->value, 3.6);
}

TEST(PercentileOf, AnEndThatTooFewValuesLieBeyondIsUnknown) {
  const auto found = percentile(drawn_values(1, 20, 5), 20, 0.99);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->low);
  EXPECT_FALSE(found->high);
}

TEST(PercentileOf, ThereIsNoneOfNothing) {
  EXPECT_FALSE(percentile({}, 20, 0.5));
}

}  // namespace
}  // namespace zeus::serving
