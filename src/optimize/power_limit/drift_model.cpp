#include "optimize/power_limit/drift_model.hpp"

#include "base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

constexpr std::array drift_steps{20.0, 60.0, 200.0};
constexpr double drift_prior = 0.05;  // standard deviation of each term's amplitude
constexpr double level_prior = 10.0;  // a level is almost unknown beforehand
constexpr double least_deviation = 1e-5;

struct Spread {
  double value;
  double prior;
};
// How much single steps may scatter, relative to their mean, and how probable that is.
constexpr std::array spread_grid{Spread{0.005, 0.1}, Spread{0.01, 0.2}, Spread{0.02, 0.3},
                                 Spread{0.04, 0.2},  Spread{0.08, 0.1}, Spread{0.16, 0.1}};

}  // namespace

void DriftModel::add(const DriftObservation& observation) {
  if (observations_.empty()) {
    centre_ = observation.log_mean;
  }
  observations_.push_back(observation);
  settings_ = std::max(settings_, observation.setting + 1);
}

void DriftModel::fit() {
  static_assert(spread_grid.size() == spreads && drift_steps.size() == drift_terms);
  double best = -1e300;
  for (std::size_t i = 0; i < spreads; ++i) {
    posteriors_[i] = posterior(spread_grid[i].value);
    best = std::max(best, posteriors_[i].log_evidence);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < spreads; ++i) {
    posteriors_[i].weight = spread_grid[i].prior * portable::exp(posteriors_[i].log_evidence - best);
    sum += posteriors_[i].weight;
  }
  for (Posterior& p : posteriors_) {
    p.weight /= sum;
  }
}

DriftModel::Posterior DriftModel::posterior(double spread) const {
  const std::size_t n = settings_ + drift_terms;
  std::vector<double> a(n * n, 0.0);
  std::vector<double> right(n, 0.0);
  double log_evidence = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double prior = i < settings_ ? level_prior : drift_prior;
    a[i * n + i] = 1.0 / (prior * prior);
    log_evidence -= portable::log(prior);
  }
  double squares = 0.0;
  for (const DriftObservation& o : observations_) {
    const double deviation = std::max(o.deviation, least_deviation);
    const double weight = 1.0 / (spread * spread / o.steps + deviation * deviation);
    const double y = o.log_mean - centre_;
    std::array<double, drift_terms> drift{};
    for (std::size_t k = 0; k < drift_terms; ++k) {
      drift[k] = portable::exp(-o.position / drift_steps[k]);
    }
    a[o.setting * n + o.setting] += weight;
    right[o.setting] += weight * y;
    for (std::size_t k = 0; k < drift_terms; ++k) {
      const std::size_t row = settings_ + k;
      a[row * n + o.setting] += weight * drift[k];
      right[row] += weight * drift[k] * y;
      for (std::size_t l = 0; l <= k; ++l) {
        a[row * n + settings_ + l] += weight * drift[k] * drift[l];
      }
    }
    squares += weight * y * y;
    log_evidence += 0.5 * portable::log(weight);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  std::vector<double> mean = right;
  double explained = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      mean[i] -= a[i * n + k] * mean[k];
    }
    mean[i] /= a[i * n + i];
    explained += mean[i] * mean[i];
    log_evidence -= portable::log(a[i * n + i]);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      mean[i] -= a[k * n + i] * mean[k];
    }
    mean[i] /= a[i * n + i];
  }
  return {.log_evidence = log_evidence - 0.5 * (squares - explained), .weight = 0.0, .mean = mean, .factor = a};
}

double DriftModel::level(std::size_t setting) const {
  double level = centre_;
  for (const Posterior& p : posteriors_) {
    level += p.weight * p.mean[setting];
  }
  return level;
}

double DriftModel::deviation(std::size_t setting) const {
  const double centre = level(setting) - centre_;
  double sum = 0.0;
  for (const Posterior& p : posteriors_) {
    const double off = p.mean[setting] - centre;
    sum += p.weight * (variance(p, setting) + off * off);
  }
  return std::sqrt(sum);
}

// The squared length of the column that solves factor * column = unit vector.
double DriftModel::variance(const Posterior& posterior, std::size_t setting) const {
  const std::size_t n = settings_ + drift_terms;
  std::vector<double> column(n, 0.0);
  double squares = 0.0;
  for (std::size_t i = setting; i < n; ++i) {
    double sum = i == setting ? 1.0 : 0.0;
    for (std::size_t k = setting; k < i; ++k) {
      sum -= posterior.factor[i * n + k] * column[k];
    }
    column[i] = sum / posterior.factor[i * n + i];
    squares += column[i] * column[i];
  }
  return squares;
}

void DriftModel::draw(Random& random, std::span<double> levels) const {
  const double pick = random.uniform();
  std::size_t chosen = 0;
  double sum = posteriors_[0].weight;
  while (chosen + 1 < spreads && pick > sum) {
    sum += posteriors_[++chosen].weight;
  }
  const Posterior& p = posteriors_[chosen];
  const std::size_t n = settings_ + drift_terms;
  std::vector<double> z(n);
  for (double& value : z) {
    value = random.normal();
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      z[i] -= p.factor[k * n + i] * z[k];
    }
    z[i] /= p.factor[i * n + i];
  }
  for (std::size_t i = 0; i < settings_; ++i) {
    levels[i] = centre_ + p.mean[i] + z[i];
  }
}

}  // namespace zeus::optimize
