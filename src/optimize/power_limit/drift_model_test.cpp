#include "optimize/power_limit/drift_model.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace zeus::optimize {
namespace {

// Slices of five steps, up and down over the settings, of a quantity that grows by `drift` while the machine warms up.
std::vector<DriftObservation> slices(Random& random, const std::vector<double>& levels, int passes, double scatter,
                                     double drift, double warm_after) {
  std::vector<DriftObservation> result;
  double position = 10.0;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::size_t setting = pass % 2 == 0 ? i : levels.size() - 1 - i;
      const double warmth = std::log(1.0 - drift * std::exp(-position / warm_after));
      result.push_back({.setting = setting,
                        .position = position,
                        .steps = 5,
                        .log_mean = levels[setting] + warmth + scatter / std::sqrt(5.0) * random.normal(),
                        .deviation = 0.0});
      position += 6.0;
    }
  }
  return result;
}

DriftModel fitted(const std::vector<DriftObservation>& observations) {
  DriftModel model;
  for (const DriftObservation& observation : observations) {
    model.add(observation);
  }
  model.fit();
  return model;
}

TEST(DriftModel, SeesThroughTheDriftOfWarmingUp) {
  const std::vector<double> levels{0.0, 0.02, 0.05, 0.3};
  for (const double warm_after : {15.0, 50.0, 150.0}) {
    Random random{7};
    const DriftModel model = fitted(slices(random, levels, 6, 0.001, 0.05, warm_after));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      EXPECT_NEAR(model.level(i) - model.level(0), levels[i], 0.003) << warm_after;
    }
  }
}

TEST(DriftModel, SaysHowFarOffItMayBe) {
  const std::vector<double> levels{0.5, 0.48, 0.47};
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random{seed};
    const double scatter = 0.005 * std::pow(2.0, 4.0 * random.uniform());
    const DriftModel model = fitted(slices(random, levels, 4, scatter, 0.05, 60.0));
    std::vector<double> drawn(levels.size());
    std::vector<double> differences;
    Random draws{seed, 1};
    for (int i = 0; i < 200; ++i) {
      model.draw(draws, drawn);
      differences.push_back(drawn[0] - drawn[2]);
    }
    std::ranges::sort(differences);
    inside += differences[4] < 0.03 && 0.03 < differences[195] ? 1 : 0;
    ++all;
  }
  EXPECT_GE(inside, all * 90 / 100);
}

TEST(DriftModel, DrawsAsWideAsItsDeviation) {
  Random random{3};
  const DriftModel model = fitted(slices(random, {1.0, 1.1}, 4, 0.02, 0.0, 50.0));
  double sum = 0.0;
  double squares = 0.0;
  constexpr int count = 4000;
  std::vector<double> drawn(2);
  for (int i = 0; i < count; ++i) {
    model.draw(random, drawn);
    sum += drawn[1];
    squares += drawn[1] * drawn[1];
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, model.level(1), 0.1 * model.deviation(1));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), model.deviation(1), 0.1 * model.deviation(1));
}

TEST(DriftModel, DoesNotMindTheOrderInWhichItIsTold) {
  Random random{5};
  std::vector<DriftObservation> observations = slices(random, {0.1, 0.2, 0.3}, 3, 0.02, 0.05, 50.0);
  const DriftModel forward = fitted(observations);
  // The first of each setting must come in order, since that is what numbers them; the rest may come in any.
  std::reverse(observations.begin() + 3, observations.end());
  const DriftModel backward = fitted(observations);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(forward.level(i), backward.level(i), 1e-12);
    EXPECT_NEAR(forward.deviation(i), backward.deviation(i), 1e-12);
  }
}

TEST(DriftModel, TakesWhatWasKnownBeforeAtItsWord) {
  const double infinite = std::numeric_limits<double>::infinity();
  const DriftModel model =
      fitted({{.setting = 0, .position = infinite, .steps = infinite, .log_mean = 2.0, .deviation = 0.004},
              {.setting = 1, .position = infinite, .steps = infinite, .log_mean = 2.5, .deviation = 0.001}});
  EXPECT_NEAR(model.level(0), 2.0, 1e-6);
  EXPECT_NEAR(model.level(1), 2.5, 1e-6);
  EXPECT_NEAR(model.deviation(0), 0.004, 1e-5);
  EXPECT_NEAR(model.deviation(1), 0.001, 1e-5);
}

}  // namespace
}  // namespace zeus::optimize
