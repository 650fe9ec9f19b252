#include "base/random.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/random_draws.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace zeus {
namespace {

// The published known answers of Philox 4x32-10 (Random123's kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// tests/portability checks GCC and Clang against the same file, with and without optimization.
TEST(Random, TenThousandDrawsAreThoseOfTheGoldenFile) {
  test::expect_golden("base/random_draws.txt", test::random_draws());
}

TEST(Random, StreamsOfOneSeedAreDifferentAndRepeatable) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t sequence = 0; sequence < 50; ++sequence) {
    for (std::uint32_t stream = 0; stream < 20; ++stream) {
      Random first{42, sequence, stream};
      Random again{42, sequence, stream};
      const std::uint64_t draw = first.bits();
      EXPECT_EQ(draw, again.bits());
      seen.insert(draw);
    }
  }
  EXPECT_EQ(seen.size(), 1000U);
}

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

template <typename Draw>
Moments moments_of(Draw draw) {
  constexpr int count = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(Random, DistributionsHaveTheirMoments) {
  Random random{7};
  const Moments uniform = moments_of([&] { return random.uniform(); });
  EXPECT_NEAR(uniform.mean, 0.5, 0.003);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.001);
  const Moments normal = moments_of([&] { return random.normal(3.0, 2.0); });
  EXPECT_NEAR(normal.mean, 3.0, 0.02);
  EXPECT_NEAR(normal.variance, 4.0, 0.06);
  const Moments exponential = moments_of([&] { return random.exponential(); });
  EXPECT_NEAR(exponential.mean, 1.0, 0.01);
  EXPECT_NEAR(exponential.variance, 1.0, 0.04);
  for (const double shape : {0.4, 1.0, 7.5}) {
    const Moments gamma = moments_of([&] { return random.gamma(shape); });
    EXPECT_NEAR(gamma.mean, shape, 0.02 * shape + 0.01);
    EXPECT_NEAR(gamma.variance, shape, 0.05 * shape + 0.01);
  }
}

TEST(Random, BelowFavoursNoValue) {
  Random random{11};
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) {
    ++counts[random.below(7)];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 500);
  }
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, ShuffleKeepsEveryItemAndReachesEveryOrder) {
  Random random{5};
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 500; ++i) {
    std::vector<int> items{1, 2, 3, 4};
    random.shuffle(std::span<int>{items});
    EXPECT_EQ(std::set<int>(items.begin(), items.end()).size(), 4U);
    orders.insert(items);
  }
  EXPECT_EQ(orders.size(), 24U);
}

}  // namespace
}  // namespace zeus
