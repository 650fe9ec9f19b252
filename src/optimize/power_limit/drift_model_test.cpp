#include "optimize/power_limit/drift_model.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace zeus::optimize {
namespace {

// Slices of five steps, up and down through the settings, of a quantity that changes by `drift` while the machine warms
// up.
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

TEST(DriftModel, SeparatesLevelsFromTheDriftOfWarmingUp) {
  const std::vector<double> levels{0.0, 0.02, 0.05, 0.3};
  for (const double warm_after : {15.0, 50.0, 150.0}) {
    Random random{7};
    const DriftModel model = fitted(slices(random, levels, 6, 0.001, 0.05, warm_after));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      EXPECT_NEAR(model.level(i) - model.level(0), levels[i], 0.003) << warm_after;
    }
  }
}

TEST(DriftModel, ItsDeviationsMatchItsErrors) {
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

TEST(DriftModel, DrawsScatterAsMuchAsItsDeviation) {
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

TEST(DriftModel, GivesTheSameResultInAnyOrderOfObservations) {
  Random random{5};
  std::vector<DriftObservation> observations = slices(random, {0.1, 0.2, 0.3}, 3, 0.02, 0.05, 50.0);
  const DriftModel forward = fitted(observations);
  // The first observation of each setting must come in order, since that numbers the settings; the rest may come in any
  // order.
  std::reverse(observations.begin() + 3, observations.end());
  const DriftModel backward = fitted(observations);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(forward.level(i), backward.level(i), 1e-12);
    EXPECT_NEAR(forward.deviation(i), backward.deviation(i), 1e-12);
  }
}

// The same model computed from the data's covariance. Slices are jointly normal; what they share (their level, and a
// drift of three unknown amplitudes) is their covariance. The levels, given the slices, follow from their covariances
// with them. Means and variances for each spread of single steps are mixed by the likelihood of the slices under that
// spread.
struct Known {
  std::vector<double> level;
  std::vector<double> deviation;
};

Known by_covariance(const std::vector<DriftObservation>& slices, std::size_t settings) {
  const std::vector<std::pair<double, double>> spreads = {{0.005, 0.1}, {0.01, 0.2}, {0.02, 0.3},
                                                          {0.04, 0.2},  {0.08, 0.1}, {0.16, 0.1}};
  const std::size_t n = slices.size();
  double total = 0.0;
  std::vector<double> first(settings, 0.0);
  std::vector<double> second(settings, 0.0);
  for (const auto& [spread, probable] : spreads) {
    // One elimination solves for the data and for every level's covariances with it: the columns are y, then the
    // levels.
    std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1 + settings, 0.0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        rows[i][j] = slices[i].setting == slices[j].setting ? 100.0 : 0.0;
        for (const double steps : {20.0, 60.0, 200.0}) {
          rows[i][j] += 0.0025 * std::exp(-slices[i].position / steps) * std::exp(-slices[j].position / steps);
        }
      }
      rows[i][i] += spread * spread / slices[i].steps + slices[i].deviation * slices[i].deviation;
      rows[i][n] = slices[i].log_mean - slices[0].log_mean;
      rows[i][n + 1 + slices[i].setting] = 100.0;
    }
    const std::vector<std::vector<double>> whole = rows;
    double log_density = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      log_density -= 0.5 * std::log(rows[i][i]);
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i) {
          continue;
        }
        const double factor = rows[j][i] / rows[i][i];
        for (std::size_t k = i; k < rows[j].size(); ++k) {
          rows[j][k] -= factor * rows[i][k];
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      log_density -= 0.5 * whole[i][n] * rows[i][n] / rows[i][i];
    }
    const double weight = probable * std::exp(log_density);
    total += weight;
    for (std::size_t setting = 0; setting < settings; ++setting) {
      double mean = 0.0;
      double variance = 100.0;
      for (std::size_t i = 0; i < n; ++i) {
        mean += whole[i][n + 1 + setting] * rows[i][n] / rows[i][i];
        variance -= whole[i][n + 1 + setting] * rows[i][n + 1 + setting] / rows[i][i];
      }
      first[setting] += weight * mean;
      second[setting] += weight * (variance + mean * mean);
    }
  }
  Known known;
  for (std::size_t setting = 0; setting < settings; ++setting) {
    const double mean = first[setting] / total;
    known.level.push_back(mean + slices[0].log_mean);
    known.deviation.push_back(std::sqrt(second[setting] / total - mean * mean));
  }
  return known;
}

TEST(DriftModel, MatchesTheRegressionOfItsDescription) {
  const std::vector<std::vector<DriftObservation>> cases = {
      {{.setting = 0, .position = 10.0, .steps = 5.0, .log_mean = 1.00, .deviation = 0.01}},
      {{.setting = 0, .position = 10.0, .steps = 5.0, .log_mean = 1.00, .deviation = 0.01},
       {.setting = 1, .position = 16.0, .steps = 8.0, .log_mean = 1.21, .deviation = 0.02},
       {.setting = 1, .position = 26.0, .steps = 5.0, .log_mean = 1.18, .deviation = 0.0},
       {.setting = 0, .position = 40.0, .steps = 20.0, .log_mean = 1.05, .deviation = 0.005}},
      {{.setting = 0, .position = 300.0, .steps = 5.0, .log_mean = -2.0, .deviation = 0.0},
       {.setting = 0, .position = 310.0, .steps = 5.0, .log_mean = -2.3, .deviation = 0.0},
       {.setting = 1, .position = 0.0, .steps = 5.0, .log_mean = -2.1, .deviation = 0.0},
       {.setting = 2, .position = 60.0, .steps = 1.0, .log_mean = -1.1, .deviation = 0.1},
       {.setting = 0, .position = 5.0, .steps = 5.0, .log_mean = -2.1, .deviation = 0.0}},
  };
  for (const std::vector<DriftObservation>& slices : cases) {
    const DriftModel model = fitted(slices);
    const Known expected = by_covariance(slices, model.settings());
    for (std::size_t setting = 0; setting < model.settings(); ++setting) {
      EXPECT_NEAR(model.level(setting), expected.level[setting], 1e-6) << setting;
      EXPECT_NEAR(model.deviation(setting), expected.deviation[setting], 1e-6) << setting;
    }
  }
}

// Means and covariance of many draws: the drift that settings share moves them together.
TEST(DriftModel, DrawsLevelsThatMoveTogether) {
  const std::vector<DriftObservation> slices = {
      {.setting = 0, .position = 10.0, .steps = 1e9, .log_mean = 1.0, .deviation = 0.0},
      {.setting = 1, .position = 10.0, .steps = 1e9, .log_mean = 1.5, .deviation = 0.0}};
  const DriftModel model = fitted(slices);
  Random random{11};
  std::vector<double> drawn(2);
  double difference = 0.0;
  double spread = 0.0;
  for (int i = 0; i < 2000; ++i) {
    model.draw(random, drawn);
    difference = std::max(difference, std::fabs(drawn[1] - drawn[0] - 0.5));
    spread += (drawn[0] - 1.0) * (drawn[0] - 1.0) / 2000.0;
  }
  // The drift at step 10 is 0.05 times a normal amplitude for each term; both slices include the same drift.
  const double drift = 0.05 * std::sqrt(std::exp(-20.0 / 20.0) + std::exp(-20.0 / 60.0) + std::exp(-20.0 / 200.0));
  EXPECT_NEAR(std::sqrt(spread), drift, 0.1 * drift);
  EXPECT_LT(difference, 0.001);
}

TEST(DriftModel, KeepsEarlierKnowledgeUnchanged) {
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
