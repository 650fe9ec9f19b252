#include "research/goodput.hpp"

#include "base/random.hpp"

#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace zeus::research {
namespace {

constexpr StepModel two_to_one{
    .compute = 1_s, .compute_per_sample = 100_ms, .exchange = 2_s, .exchange_per_device = 500_ms, .overlap = 1.0};

std::vector<StepObservation> observed(const StepModel& model, std::initializer_list<int> devices,
                                      std::initializer_list<double> shares) {
  std::vector<StepObservation> all;
  for (const int count : devices) {
    for (const double share : shares) {
      all.push_back({.devices = count,
                     .per_device = share,
                     .compute = step_time(model, 1, share),
                     .step = step_time(model, count, share)});
    }
  }
  return all;
}

TEST(StatisticsOfStep, AreThoseOfGradientsThatAreKnown) {
  // Two devices with gradients (3, 1) and (1, 1): lengths 10 and 2, that of their mean (2, 1) is 5.
  const GradientStatistics found = statistics_of_step(6.0, 5.0, 2, 4.0);
  EXPECT_DOUBLE_EQ(found.square, 4.0);
  EXPECT_DOUBLE_EQ(found.variance, 4.0);
}

TEST(GradientNoise, IsZeroBeforeTheFirstStepAndNeverBelow) {
  GradientNoise noise{100.0};
  EXPECT_EQ(noise.statistics().square, 0.0);
  EXPECT_EQ(noise.statistics().variance, 0.0);
  noise.add({.square = -1.0, .variance = 3.0}, 1.0);
  EXPECT_EQ(noise.statistics().square, 0.0);
  EXPECT_DOUBLE_EQ(noise.statistics().variance, 3.0);
  EXPECT_TRUE(std::isinf(noise_scale(noise.statistics(), 32.0)));
}

TEST(GradientNoise, ForgetsByTheSamplesThatFollow) {
  GradientNoise by_small{10.0};
  GradientNoise by_large{10.0};
  by_small.add({.square = 1.0, .variance = 1.0}, 4.0);
  by_large.add({.square = 1.0, .variance = 1.0}, 4.0);
  for (int i = 0; i < 4; ++i) {
    by_small.add({.square = 3.0, .variance = 3.0}, 1.0);
  }
  by_large.add({.square = 3.0, .variance = 3.0}, 4.0);
  EXPECT_NEAR(by_small.statistics().square, by_large.statistics().square, 1e-12);
  // Weights exp(-0.4) and 1, each times 1 - exp(-0.4).
  EXPECT_NEAR(by_large.statistics().square, (std::exp(-0.4) + 3.0) / (std::exp(-0.4) + 1.0), 1e-12);
}

// Half the squared distance from samples that scatter about 0: the gradient at `at` is `at` less the sample.
TEST(GradientNoise, IsThatOfAQuadraticProblem) {
  constexpr int seeds = 100;
  constexpr std::size_t dimensions = 40;
  constexpr int devices = 4;
  constexpr int share = 16;
  constexpr double reference = 32.0;
  constexpr double scatter = 2.0;
  constexpr double expected = dimensions * scatter * scatter;  // at squared length 1
  int close = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random{seed};
    GradientNoise noise{1000.0};
    for (int step = 0; step < 1500; ++step) {
      double mean_square = 0.0;
      std::array<double, dimensions> mean{};
      for (int device = 0; device < devices; ++device) {
        double square = 0.0;
        for (std::size_t i = 0; i < dimensions; ++i) {
          const double gradient = 1.0 / std::sqrt(dimensions) + random.normal(0.0, scatter / std::sqrt(share));
          mean[i] += gradient / devices;
          square += gradient * gradient;
        }
        mean_square += square / devices;
      }
      double square_of_mean = 0.0;
      for (const double one : mean) {
        square_of_mean += one * one;
      }
      constexpr double scale = devices * share / reference;
      noise.add(statistics_of_step(mean_square, square_of_mean, devices, scale), scale);
    }
    const double found = noise_scale(noise.statistics(), reference);
    close += std::abs(found - expected) <= 0.1 * expected ? 1 : 0;
  }
  EXPECT_GE(close, 95);
  RecordProperty("within_a_tenth", close);
}

TEST(Efficiency, FallsOnceTheBatchIsLargerThanTheNoiseScale) {
  const GradientStatistics noisy{.square = 1.0, .variance = 9.0};
  EXPECT_DOUBLE_EQ(efficiency(noisy, 32.0, 32.0), 1.0);
  // (9 + 1) / (9 / 3 + 1) / 3
  EXPECT_DOUBLE_EQ(efficiency(noisy, 32.0, 96.0), 10.0 / 12.0);
  EXPECT_DOUBLE_EQ(efficiency({.square = 1.0, .variance = 0.0}, 32.0, 64.0), 0.5);
  EXPECT_DOUBLE_EQ(efficiency({.square = 0.0, .variance = 1.0}, 32.0, 64.0), 1.0);
  EXPECT_DOUBLE_EQ(efficiency({}, 32.0, 64.0), 0.5);
}

TEST(StepTime, AddsOrHidesTheExchange) {
  EXPECT_DOUBLE_EQ(step_time(two_to_one, 1, 20.0).value(), 3.0);
  EXPECT_DOUBLE_EQ(step_time(two_to_one, 2, 20.0).value(), 5.0);
  EXPECT_DOUBLE_EQ(step_time(two_to_one, 4, 20.0).value(), 6.0);
  StepModel hiding = two_to_one;
  hiding.overlap = 2.0;
  EXPECT_DOUBLE_EQ(step_time(hiding, 4, 30.0).value(), 5.0);  // 4 and 3
  EXPECT_DOUBLE_EQ(throughput(hiding, 4, 30.0), 24.0);
  hiding.exchange = {};
  EXPECT_DOUBLE_EQ(step_time(hiding, 2, 30.0).value(), 4.0);
}

TEST(BestShare, WeighsSpeedAgainstWhatASampleTeaches) {
  const auto best = [](const GradientStatistics& statistics, double reference = 32.0) {
    return best_share(two_to_one, statistics, reference, 4, 8, 192);
  };
  EXPECT_EQ(best({.square = 0.0, .variance = 1.0}), 192);
  EXPECT_EQ(best({.square = 1.0, .variance = 0.0}), 8);
  const int between = best({.square = 1.0, .variance = 10.0});
  EXPECT_GT(between, 8);
  EXPECT_LT(between, 192);
  for (int share = 8; share <= 192; ++share) {
    EXPECT_LE(goodput(two_to_one, {.square = 1.0, .variance = 10.0}, 32.0, 4, share),
              goodput(two_to_one, {.square = 1.0, .variance = 10.0}, 32.0, 4, between));
  }
  // No smaller than the reference, even if less would be better.
  EXPECT_EQ(best({.square = 1.0, .variance = 0.0}, 100.0), 25);
  EXPECT_EQ(best({.square = 1.0, .variance = 0.0}, 10'000.0), 192);
}

TEST(FitStepModel, FindsTheTimesOfAModelAgain) {
  for (const double overlap : {1.0, 1.7, 4.0}) {
    StepModel truth = two_to_one;
    truth.overlap = overlap;
    const StepModel found = fit_step_model(observed(truth, {1, 2, 4, 8}, {8, 16, 32, 64}));
    for (const int devices : {1, 4, 8}) {
      for (const double share : {8.0, 24.0, 96.0}) {
        EXPECT_NEAR(step_time(found, devices, share) / step_time(truth, devices, share), 1.0, 0.03)
            << overlap << ", " << devices << " devices, " << share;
      }
    }
  }
}

TEST(FitStepModel, SharesATimeOfOneShareBetweenItsParts) {
  const StepModel found = fit_step_model(observed(two_to_one, {4}, {20}));
  EXPECT_NEAR(found.compute.value(), 1.5, 1e-9);
  EXPECT_NEAR(found.compute_per_sample.value(), 0.075, 1e-5);
  EXPECT_NEAR(step_time(found, 4, 20.0).value(), 6.0, 1e-3);
}

TEST(FitStepModel, KnowsNoExchangeThatNothingShows) {
  const StepModel alone = fit_step_model(observed(two_to_one, {1}, {8, 64}));
  EXPECT_EQ(alone.exchange, Seconds{});
  EXPECT_NEAR(step_time(alone, 1, 200.0).value(), 21.0, 0.2);
  const StepModel two = fit_step_model(observed(two_to_one, {1, 2}, {8, 64}));
  EXPECT_EQ(two.exchange_per_device, Seconds{});
  EXPECT_NEAR(step_time(two, 2, 30.0).value(), 6.0, 0.1);
}

}  // namespace
}  // namespace zeus::research
