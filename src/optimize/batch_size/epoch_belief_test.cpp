// Compares the belief about epochs with Bayes' rule by brute force: the prior of epoch_prior.hpp, written a second time
// from its description, times the likelihood of every single run, summed over a grid of the epochs that one or two arms
// may need.

#include "optimize/batch_size/epoch_belief.hpp"

#include "tests/support/normal_density.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

namespace zeus::optimize {
namespace {

using test::normal_density;

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The runs of an arm: logarithms of the epochs of those that reached the target, and of the bounds at which others were
// stopped.
struct Runs {
  std::vector<double> reached;
  std::vector<double> stopped;
  double drift = 0.0;
};

EpochEvidence evidence_of(const Runs& runs) {
  EpochEvidence known{.count = static_cast<double>(runs.reached.size()),
                      .drift = runs.drift,
                      .censored = static_cast<double>(runs.stopped.size())};
  for (const double run : runs.reached) {
    known.mean += run / known.count;
  }
  for (const double run : runs.reached) {
    known.squares += (run - known.mean) * (run - known.mean);
  }
  for (const double bound : runs.stopped) {
    known.bound = bound;
  }
  return known;
}

EpochBelief fitted(const std::vector<double>& octaves, const EpochPrior& prior, const std::vector<Runs>& runs) {
  EpochBelief belief{octaves, prior};
  std::vector<EpochEvidence> evidence;
  for (const Runs& arm : runs) {
    evidence.push_back(evidence_of(arm));
  }
  belief.fit(evidence);
  return belief;
}

struct EpochMoments {
  std::vector<double> mean;
  std::vector<double> variance;
  std::vector<double> noise;
};

// The moments of one or two arms.
EpochMoments epochs_by_integration(const std::vector<double>& octaves, const EpochPrior& prior,
                                   const std::vector<Runs>& runs) {
  constexpr double low = -6.0;
  constexpr double step = 0.1;
  constexpr std::size_t points = 290;
  const std::size_t arms = octaves.size();
  const auto matern = [](double distance, double length) {
    const double d = std::sqrt(5.0) * std::fabs(distance) / length;
    return (1.0 + d + d * d / 3.0) * std::exp(-d);
  };
  const auto likelihood = [](const Runs& arm, double f, double noise) {
    double product = 1.0;
    if (arm.drift > 0.0) {
      // Runs scatter about a mean that has moved from f by a normal distance, so their mean tells less about f.
      const EpochEvidence known = evidence_of(arm);
      const double deviation = std::sqrt(noise * noise / known.count + arm.drift);
      product = std::exp(-0.5 * known.squares / (noise * noise)) / std::pow(noise, known.count - 1.0) *
                normal_density((known.mean - f) / deviation) / deviation;
    } else {
      for (const double run : arm.reached) {
        product *= normal_density((run - f) / noise) / noise;
      }
    }
    for (const double bound : arm.stopped) {
      product *= normal_cdf((f - bound) / noise);
    }
    return product;
  };
  double least = 1e9;
  for (const Runs& arm : runs) {
    if (!arm.reached.empty()) {
      least = std::min(least, evidence_of(arm).mean);
    }
  }
  const double rounding = prior.rounding_share * std::exp(-2.0 * least) / 12.0;
  // A value that is listed several times counts once.
  const std::set<double> places{prior.critical_places.begin(), prior.critical_places.end()};
  const std::set<double> lengths{prior.lengths.begin(), prior.lengths.end()};
  const std::set<double> spreads{prior.spreads.begin(), prior.spreads.end()};
  double total = 0.0;
  std::vector<double> first(arms);
  std::vector<double> second(arms);
  std::vector<double> noise(arms);
  for (std::size_t usual = 0; usual < prior.noises.size(); ++usual) {
    // For each arm and grid point: the likelihood, and the likelihood times the variance of a run.
    std::array<std::vector<double>, 2> of_runs{std::vector<double>(points, 0.0), std::vector<double>(points, 0.0)};
    std::array<std::vector<double>, 2> of_noise = of_runs;
    for (std::size_t arm = 0; arm < arms; ++arm) {
      for (std::size_t i = 0; i < points; ++i) {
        for (std::size_t level = 0; level < prior.noises.size(); ++level) {
          const double share = level == usual ? 1.0 - prior.odd_noise : prior.odd_noise / 2.0;
          const double p = share * likelihood(runs[arm], low + step * static_cast<double>(i), prior.noises[level]);
          of_runs[arm][i] += p;
          of_noise[arm][i] += p * prior.noises[level] * prior.noises[level];
        }
      }
    }
    for (const double place : places) {
      for (const double length : lengths) {
        for (const double spread : spreads) {
          const auto covariance = [&](std::size_t a, std::size_t b) {
            const double distance = octaves[a] - octaves[b];
            return prior.level_spread * prior.level_spread +
                   prior.trend_spread * prior.trend_spread * octaves[a] * octaves[b] +
                   prior.roughness * prior.roughness * matern(distance, prior.roughness_length) +
                   spread * spread * matern(distance, length) + (a == b ? rounding : 0.0);
          };
          const auto centre = [&](std::size_t a) {
            return prior.level_mean + std::log(1.0 + std::exp2(octaves[a] - place));
          };
          const double v0 = covariance(0, 0);
          const double slope = arms > 1 ? covariance(0, 1) / v0 : 0.0;
          const double v1 = arms > 1 ? covariance(1, 1) - slope * covariance(0, 1) : 1.0;
          for (std::size_t i = 0; i < points; ++i) {
            const double f0 = low + step * static_cast<double>(i);
            const double p0 = normal_density((f0 - centre(0)) / std::sqrt(v0)) / std::sqrt(v0);
            if (arms == 1) {
              const double p = p0 * of_runs[0][i];
              total += p;
              first[0] += p * f0;
              second[0] += p * f0 * f0;
              noise[0] += p0 * of_noise[0][i];
              continue;
            }
            const double middle = centre(1) + slope * (f0 - centre(0));
            for (std::size_t j = 0; j < points; ++j) {
              const double f1 = low + step * static_cast<double>(j);
              const double p1 = p0 * normal_density((f1 - middle) / std::sqrt(v1)) / std::sqrt(v1);
              const double p = p1 * of_runs[0][i] * of_runs[1][j];
              total += p;
              first[0] += p * f0;
              first[1] += p * f1;
              second[0] += p * f0 * f0;
              second[1] += p * f1 * f1;
              noise[0] += p1 * of_noise[0][i] * of_runs[1][j];
              noise[1] += p1 * of_runs[0][i] * of_noise[1][j];
            }
          }
        }
      }
    }
  }
  EpochMoments moments;
  for (std::size_t arm = 0; arm < arms; ++arm) {
    const double mean = first[arm] / total;
    moments.mean.push_back(mean);
    moments.variance.push_back(second[arm] / total - mean * mean);
    moments.noise.push_back(noise[arm] / total);
  }
  return moments;
}

void expect_integrated(const std::vector<double>& octaves, const EpochPrior& prior, const std::vector<Runs>& runs,
                       double tolerance) {
  const EpochBelief belief = fitted(octaves, prior, runs);
  const EpochMoments expected = epochs_by_integration(octaves, prior, runs);
  for (std::size_t arm = 0; arm < octaves.size(); ++arm) {
    EXPECT_NEAR(belief.mean(arm), expected.mean[arm], tolerance * std::sqrt(expected.variance[arm])) << "arm " << arm;
    EXPECT_NEAR(belief.variance(arm) / expected.variance[arm], 1.0, tolerance) << "arm " << arm;
    EXPECT_NEAR(belief.noise(arm) / expected.noise[arm], 1.0, tolerance) << "arm " << arm;
  }
}

// The simplest prior: a single Gaussian process with a flat mean, and one level of noise.
EpochPrior simple(double noise = 0.3) {
  EpochPrior prior;
  prior.critical_places.fill(100.0);
  prior.lengths.fill(2.0);
  prior.spreads.fill(0.4);
  prior.noises.fill(noise);
  prior.level_spread = 1.0;
  prior.rounding_share = 0.0;
  return prior;
}

// Everything is unknown, with noise wide enough for the grid.
EpochPrior mixed() {
  EpochPrior prior;
  prior.noises = {0.25, 0.35, 0.6};
  prior.level_spread = 1.0;
  return prior;
}

TEST(EpochBelief, StartsFromItsPrior) {
  expect_integrated({0.0}, simple(), {{}}, 1e-6);
  expect_integrated({0.0}, mixed(), {{}}, 1e-5);
  expect_integrated({-1.0, 2.0}, mixed(), {{}, {}}, 1e-3);
}

// N(2.3, 1 + 0.01 + 0.16) and two runs of 3.0 and 3.4 with a noise of 0.3: the precisions are 1 / 1.17 and 2 / 0.09.
TEST(EpochBelief, IsTheConjugatePosteriorForOneArm) {
  const EpochBelief belief = fitted({0.0}, simple(), {{.reached = {3.0, 3.4}}});
  const double precision = 1.0 / 1.17 + 2.0 / 0.09;
  EXPECT_NEAR(belief.mean(0), (2.3 / 1.17 + 6.4 / 0.09) / precision, 1e-9);
  EXPECT_NEAR(belief.variance(0), 1.0 / precision, 1e-9);
  EXPECT_NEAR(belief.noise(0), 0.09, 1e-12);
}

TEST(EpochBelief, LearnsNoisePositionAndSpreadFromOneArm) {
  expect_integrated({0.0}, mixed(), {{.reached = {3.0, 3.4}}}, 2e-4);
  expect_integrated({0.0}, mixed(), {{.reached = {3.0, 3.05, 3.1, 3.02}}}, 2e-4);
  expect_integrated({3.0}, mixed(), {{.reached = {1.0, 2.5, 4.0}}}, 2e-4);
}

TEST(EpochBelief, LearnsAboutOneArmFromAnother) {
  expect_integrated({0.0, 1.0}, simple(), {{.reached = {3.0, 3.4}}, {}}, 1e-5);
  expect_integrated({-2.0, 1.0}, simple(), {{}, {.reached = {1.5}}}, 1e-5);
  expect_integrated({-2.0, 1.0}, simple(), {{.reached = {3.0, 3.4}}, {.reached = {1.5, 1.9, 1.8}}}, 1e-5);
}

TEST(EpochBelief, WeighsCriticalPositionsLengthsAndSpreadsByTheRunsOfBothArms) {
  EpochPrior prior = mixed();
  prior.noises.fill(0.3);
  expect_integrated({-1.0, 2.0}, prior, {{.reached = {2.0, 2.3}}, {.reached = {3.9}}}, 2e-4);
  expect_integrated({-1.0, 2.0}, prior, {{.reached = {2.0, 2.3}}, {}}, 2e-4);
}

// If arms differ in noise, they are added one after the other and the first is reduced to its moments. The result is
// close, but not exact.
TEST(EpochBelief, LearnsTheNoiseOfSeveralArms) {
  expect_integrated({0.0, 1.0}, mixed(), {{.reached = {3.0, 3.1, 2.9, 3.05}}, {.reached = {2.0, 3.5}}}, 0.05);
}

TEST(EpochBelief, RunsFromBeforeAChangeCountLess) {
  expect_integrated({0.0}, simple(), {{.reached = {3.0, 3.4}, .drift = 0.25}}, 1e-5);
  expect_integrated({0.0}, mixed(), {{.reached = {3.0, 3.4, 2.0}, .drift = 0.25}}, 2e-4);
  expect_integrated({0.0, 1.0}, simple(), {{.reached = {3.0, 3.4}, .drift = 0.25}, {.reached = {1.5}}}, 1e-5);
}

// Epochs are whole numbers: if runs take about 3 epochs, half the variance of rounding, 1 / 12 epoch^2, stays with each
// arm.
TEST(EpochBelief, RoundingAddsVarianceIfRunsTakeFewEpochs) {
  EpochPrior prior = simple();
  prior.rounding_share = 0.5;
  expect_integrated({0.0, 1.0}, prior, {{.reached = {0.0, 0.7}}, {.reached = {1.0}}}, 1e-5);
}

// A single stopped run: expectation propagation has the exact moments of "more than this many epochs".
TEST(EpochBelief, AStoppedRunRaisesTheExpectedEpochs) {
  for (const double bound : {0.0, 2.3, 3.5, 5.0}) {
    expect_integrated({0.0}, simple(), {{.stopped = {bound}}}, 1e-5);
    expect_integrated({0.0}, simple(), {{.reached = {3.0, 2.6}, .stopped = {bound}}}, 3e-3);
    expect_integrated({0.0, 1.0}, simple(), {{.stopped = {bound}}, {}}, 1e-5);
  }
}

// The bound is 9 deviations beyond the expected value, where the normal distribution leaves nothing to divide by.
TEST(EpochBelief, LearnsFromAStoppedRunFarBeyondTheExpectedEpochs) {
  EpochPrior prior = simple(0.7);
  prior.level_spread = 0.5;
  expect_integrated({0.0}, prior, {{.stopped = {2.3 + 9.0 * std::sqrt(0.42 + 0.49)}}}, 0.02);
}

TEST(EpochBelief, StoppedRunsWeighTheUnknownParameters) {
  EpochPrior prior = mixed();
  prior.noises.fill(0.3);
  expect_integrated({2.0}, prior, {{.stopped = {3.0}}}, 1e-3);
  expect_integrated({0.0, 3.0}, prior, {{.reached = {2.0, 2.2}}, {.stopped = {3.5}}}, 2e-3);
}

// Several runs stopped at one bound are treated as equal factors, and those of two arms as independent ones.
// Expectation propagation is off by a tenth here even after it has converged.
TEST(EpochBelief, SeveralStoppedRunsCountApproximately) {
  expect_integrated({0.0}, simple(), {{.stopped = {3.0, 3.0, 3.0}}}, 0.2);
  expect_integrated({0.0, 1.0}, simple(), {{.stopped = {3.0}}, {.stopped = {2.5}}}, 0.12);
}

TEST(EpochBelief, EveryFitStartsFromThePrior) {
  const std::vector<double> octaves = {0.0, 1.0};
  EpochBelief used = fitted(octaves, mixed(), {{.reached = {3.0}, .stopped = {4.0}}, {.stopped = {1.0}}});
  const EpochBelief fresh = fitted(octaves, mixed(), {{.reached = {1.0, 1.5}}, {}});
  used.fit(std::array{evidence_of({.reached = {1.0, 1.5}}), evidence_of({})});
  for (const std::size_t arm : {0U, 1U}) {
    EXPECT_EQ(used.mean(arm), fresh.mean(arm));
    EXPECT_EQ(used.variance(arm), fresh.variance(arm));
    EXPECT_EQ(used.noise(arm), fresh.noise(arm));
    EXPECT_EQ(used.survival(arm, 2.0), fresh.survival(arm, 2.0));
  }
}

// The probability that a run, including its noise, takes more than this many epochs.
TEST(EpochBelief, SurvivalIsTheProbabilityThatARunTakesMoreEpochs) {
  const EpochBelief belief = fitted({0.0}, simple(), {{.reached = {3.0, 3.4}}});
  const double variance = 1.0 / (1.0 / 1.17 + 2.0 / 0.09);
  const double mean = variance * (2.3 / 1.17 + 6.4 / 0.09);
  for (const double log_epochs : {2.0, 3.0, 3.2, 4.0}) {
    double chance = 0.0;
    constexpr double step = 0.001;
    const int pieces = static_cast<int>((8.0 - log_epochs) / step);
    for (int piece = 0; piece < pieces; ++piece) {
      const double run = log_epochs + (piece + 0.5) * step;
      const double deviation = std::sqrt(variance + 0.09);
      chance += step * normal_density((run - mean) / deviation) / deviation;
    }
    EXPECT_NEAR(belief.survival(0, log_epochs), chance, 1e-6);
  }
}

// If one run of an arm predicts the next (hardly any noise), no run ends before the bound that others passed, and
// beyond it the probabilities are the earlier ones, renormalized. If runs have nothing in common, the stopped ones
// change nothing. In between, the two cases are mixed by the arm's own share of the variance.
TEST(EpochBelief, SurvivalUsesTheBoundThatStoppedRunsPassed) {
  constexpr double bound = 3.0;
  for (const double noise : {0.01, 0.3, 1.0}) {
    const EpochBelief belief = fitted({0.0}, simple(noise), {{.stopped = {bound}}});
    const double total = 1.17 + noise * noise;
    const double alike = 1.17 / total;
    const auto beyond = [total](double log_epochs) { return normal_cdf((2.3 - log_epochs) / std::sqrt(total)); };
    const auto smooth = [&](double log_epochs) {
      return normal_cdf((belief.mean(0) - log_epochs) / std::sqrt(belief.variance(0) + noise * noise));
    };
    for (const double log_epochs : {1.0, 2.999}) {
      EXPECT_NEAR(belief.survival(0, log_epochs), alike + (1.0 - alike) * smooth(log_epochs), 1e-9);
    }
    for (const double log_epochs : {3.001, 3.5, 5.0}) {
      EXPECT_NEAR(belief.survival(0, log_epochs),
                  alike * beyond(log_epochs) / beyond(bound) + (1.0 - alike) * smooth(log_epochs), 1e-9);
    }
  }
}

// The bound is a million times the expected value, so the probability beyond it is too small to divide by.
TEST(EpochBelief, SurvivalFarBeyondTheExpectedEpochsUsesTheNewBelief) {
  const EpochBelief belief = fitted({0.0}, simple(), {{.stopped = {2.3 + 14.0}}});
  const double z = (belief.mean(0) - 10.0) / std::sqrt(belief.variance(0) + 0.09);
  EXPECT_NEAR(belief.survival(0, 10.0), normal_cdf(z), 1e-9);
  EXPECT_GT(belief.mean(0), 10.0);
}

// An arm's stopped runs are judged by the evidence of the other arms, without the arm's own stopped runs: here by a run
// of the neighbour.
TEST(EpochBelief, SurvivalJudgesStoppedRunsByAllOtherEvidence) {
  const EpochPrior prior = simple(0.3);
  const std::vector<double> octaves = {0.0, 1.0};
  const EpochBelief others = fitted(octaves, prior, {{.reached = {2.6, 2.8}}, {}});
  const EpochBelief belief = fitted(octaves, prior, {{.reached = {2.6, 2.8}}, {.stopped = {3.0}}});
  const double total = others.variance(1) + 0.09;
  const double alike = others.variance(1) / total;
  const auto beyond = [&](double log_epochs) { return normal_cdf((others.mean(1) - log_epochs) / std::sqrt(total)); };
  const double smooth = normal_cdf((belief.mean(1) - 3.2) / std::sqrt(belief.variance(1) + 0.09));
  EXPECT_NEAR(belief.survival(1, 3.2), alike * beyond(3.2) / beyond(3.0) + (1.0 - alike) * smooth, 1e-9);
}

// Runs of two neighbours were stopped at a bound. A normal distribution leaves the arm between them a tail below the
// bound; because the neighbours went on, it will probably go on too.
TEST(EpochBelief, SurvivalUsesTheBoundThatStoppedRunsOfNeighboursPassed) {
  const EpochPrior prior = simple(0.05);
  const std::vector<double> octaves = {-0.2, 0.0, 0.2, 8.0};
  const EpochBelief belief = fitted(octaves, prior, {{.stopped = {3.0}}, {}, {.stopped = {3.0}}, {.reached = {2.5}}});
  const double smooth = normal_cdf((belief.mean(1) - 2.9) / std::sqrt(belief.variance(1) + 0.0025));
  EXPECT_GT(belief.survival(1, 2.9), smooth);
  EXPECT_GT(1.0 - smooth, 2.0 * (1.0 - belief.survival(1, 2.9))) << "less than half the probability is left";
  EXPECT_NEAR(belief.survival(3, 2.5), normal_cdf((belief.mean(3) - 2.5) / std::sqrt(belief.variance(3) + 0.0025)),
              0.05)
      << "it changes little far away";
}

// An arm's own stopped runs count in full, whatever those of another arm suggest.
TEST(EpochBelief, SurvivalPrefersAnArmsOwnStoppedRuns) {
  const EpochPrior prior = simple(0.05);
  const EpochBelief belief = fitted({0.0, 0.2}, prior, {{.stopped = {3.0}}, {.stopped = {1.0}}});
  EXPECT_GT(belief.survival(0, 2.99), 0.99);
}

}  // namespace
}  // namespace zeus::optimize
