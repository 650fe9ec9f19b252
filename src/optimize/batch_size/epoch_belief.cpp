#include "optimize/batch_size/epoch_belief.hpp"

#include "base/portable_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace zeus::optimize {

namespace {

constexpr int sweeps = 2;
// After a run, the variance is below this share of what it was before, however noisy the run was.
constexpr double most_left = 1.0 - 1e-9;

constexpr double natural_log_of_two = 0.6931471805599453;
constexpr double log_two_pi = 1.8378770664093453;

double matern(double distance, double length) {
  const double scaled = 2.23606797749979 * distance / length;
  return (1.0 + scaled + scaled * scaled / 3.0) * portable::exp(-scaled);
}

// phi(z) / Phi(z), also for z far below zero, where both terms vanish.
double hazard(double z) {
  if (z < -6.0) {
    return -z + 1.0 / (-z + 2.0 / -z);
  }
  return portable::normal_density(z) / portable::normal_cdf(z);
}

double log_normal_cdf(double z) {
  if (z < -6.0) {
    return -0.5 * z * z - 0.5 * log_two_pi - portable::log(hazard(z));
  }
  return portable::log(portable::normal_cdf(z));
}

}  // namespace

EpochBelief::NoiseLevels::NoiseLevels(const EpochPrior& prior)
    : usual_share{1.0 - prior.odd_noise},
      odd_share{prior.odd_noise / (noise_levels - 1)},
      log_usual{portable::log(usual_share)},
      log_odd{portable::log(odd_share)} {
  for (std::size_t level = 0; level < noise_levels; ++level) {
    variance[level] = prior.noises[level] * prior.noises[level];
    log_variance[level] = portable::log(variance[level]);
  }
}

double EpochBelief::NoiseLevels::expected(std::size_t usual) const {
  double sum = 0.0;
  for (std::size_t level = 0; level < noise_levels; ++level) {
    sum += (level == usual ? usual_share : odd_share) * variance[level];
  }
  return sum;
}

EpochBelief::EpochBelief(std::span<const double> octaves, const EpochPrior& before)
    : arms_{octaves.size()},
      levels_{before},
      rounding_share_{before.rounding_share},
      mean_(arms_, before.level_mean),
      covariance_(arms_ * arms_, 0.0),
      noise_(arms_, 0.0),
      stopped_(arms_),
      like_(arms_) {
  reached_.reserve(arms_);
  for (const double length : before.lengths) {
    for (const double spread : before.spreads) {
      std::vector<double> prior(arms_ * arms_);
      for (std::size_t a = 0; a < arms_; ++a) {
        for (std::size_t b = 0; b < arms_; ++b) {
          const double distance = std::fabs(octaves[a] - octaves[b]);
          prior[a * arms_ + b] = before.level_spread * before.level_spread +
                                 before.trend_spread * before.trend_spread * octaves[a] * octaves[b] +
                                 before.roughness * before.roughness * matern(distance, before.roughness_length) +
                                 spread * spread * matern(distance, length);
        }
      }
      priors_.push_back(std::move(prior));
    }
  }
  for (const double place : before.critical_places) {
    std::vector<double> prior_mean;
    for (const double octave : octaves) {
      prior_mean.push_back(before.level_mean + portable::log1p(portable::exp(natural_log_of_two * (octave - place))));
    }
    for (std::size_t prior = 0; prior < priors_.size(); ++prior) {
      for (std::size_t noise = 0; noise < noise_levels; ++noise) {
        components_.push_back({.noise = noise,
                               .prior = prior,
                               .prior_mean = prior_mean,
                               .mean = prior_mean,
                               .covariance = std::vector<double>(arms_ * arms_),
                               .noises = std::vector<double>(arms_),
                               .others_mean = std::vector<double>(arms_),
                               .others_variance = std::vector<double>(arms_)});
      }
    }
  }
  const std::vector<EpochEvidence> nothing(arms_);
  fit(nothing);
}

// Multiplies the component's normal distribution by exp(-precision f^2 / 2 + shift f), where f is the value of one arm.
void EpochBelief::condition(Component& component, std::size_t arm, double precision, double shift) const {
  double* const covariance = component.covariance.data();
  const double* const row = covariance + arm * arms_;
  const double variance = row[arm];
  const double gain = 1.0 / (1.0 + precision * variance);
  const double step = (shift - precision * component.mean[arm]) * gain;
  const double shrink = precision * gain;
  // Every element is written before it is read.
  std::array<double, most_batch_sizes> direction;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t a = 0; a < arms_; ++a) {
    direction[a] = row[a];
  }
  for (std::size_t a = 0; a < arms_; ++a) {
    component.mean[a] += direction[a] * step;
    const double factor = shrink * direction[a];
    double* const out = covariance + a * arms_;
    for (std::size_t b = 0; b < arms_; ++b) {
      out[b] -= factor * direction[b];
    }
  }
}

// Conditions the component on the runs that reached the target, and adds their log likelihood to its weight. The noise
// of each arm has one of a few levels, so the likelihood of its runs is a mixture of normal distributions; the arm
// takes the moments of the mixture.
void EpochBelief::learn_reached(Component& component, std::span<const EpochEvidence> evidence) const {
  // The part that is not in the exponents: a product of at most most_batch_sizes moderate factors.
  double likelihood = 1.0;
  for (const std::size_t arm : reached_) {
    const EpochEvidence& known = evidence[arm];
    const double mean = component.mean[arm];
    const double variance = component.covariance[arm * arms_ + arm];
    const double distance = known.mean - mean;
    std::array<double, noise_levels> total{};
    std::array<double, noise_levels> exponent{};
    double heaviest = -std::numeric_limits<double>::infinity();
    for (std::size_t level = 0; level < noise_levels; ++level) {
      total[level] = variance + levels_.variance[level] / known.count + known.drift;
      exponent[level] = levels_.log_share(level, component.noise) -
                        0.5 * (distance * distance / total[level] + (known.count - 1.0) * levels_.log_variance[level] +
                               known.squares / levels_.variance[level]);
      heaviest = std::max(heaviest, exponent[level]);
    }
    double sum = 0.0;
    double step_mean = 0.0;
    double step_square = 0.0;
    double noise = 0.0;
    for (std::size_t level = 0; level < noise_levels; ++level) {
      const double share = portable::exp(exponent[level] - heaviest) / std::sqrt(total[level]);
      const double gain = variance / total[level];
      const double step = gain * distance;
      sum += share;
      step_mean += share * step;
      step_square += share * (step * step + variance * (1.0 - gain));
      noise += share * levels_.variance[level];
    }
    component.log_weight += heaviest;
    likelihood *= sum;
    component.noises[arm] = noise / sum;
    step_mean /= sum;
    const double moved = std::min(step_square / sum - step_mean * step_mean, variance * most_left);
    condition(component, arm, 1.0 / moved - 1.0 / variance, (mean + step_mean) / moved - mean / variance);
  }
  component.log_weight += portable::log(likelihood);
}

// Conditions the component on the stopped runs, by expectation propagation: each becomes the normal factor with the
// moments of "more than this many epochs".
void EpochBelief::learn_stopped(Component& component, std::span<const EpochEvidence> evidence) const {
  std::array<double, most_batch_sizes> site_precision{};
  std::array<double, most_batch_sizes> site_shift{};
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t arm = 0; arm < arms_; ++arm) {
      const EpochEvidence& known = evidence[arm];
      if (known.censored <= 0.0) {
        continue;
      }
      const double variance = component.covariance[arm * arms_ + arm];
      const double precision = 1.0 / variance - site_precision[arm] / known.censored;
      component.others_mean[arm] = component.mean[arm];
      component.others_variance[arm] = variance;
      constexpr double least_precision = 1e-9;
      if (precision <= least_precision) {
        continue;
      }
      const double others_variance = 1.0 / precision;
      const double others_mean = others_variance * (component.mean[arm] / variance - site_shift[arm] / known.censored);
      component.others_mean[arm] = others_mean;
      component.others_variance[arm] = others_variance;
      const double total = others_variance + component.noises[arm];
      const double root = std::sqrt(total);
      const double z = (others_mean - known.bound) / root;
      const double slope = hazard(z);
      if (sweep == 0) {
        component.log_weight += known.censored * log_normal_cdf(z);
      }
      const double tilted_mean = others_mean + others_variance * slope / root;
      const double tilted_variance = others_variance - others_variance * others_variance * slope * (slope + z) / total;
      const double new_precision = std::max(1.0 / tilted_variance - precision, 0.0) * known.censored;
      const double new_shift = (tilted_mean / tilted_variance - others_mean * precision) * known.censored;
      condition(component, arm, new_precision - site_precision[arm], new_shift - site_shift[arm]);
      site_precision[arm] = new_precision;
      site_shift[arm] = new_shift;
    }
  }
}

void EpochBelief::fit(std::span<const EpochEvidence> evidence) {
  double least = std::numeric_limits<double>::infinity();
  for (const EpochEvidence& known : evidence) {
    least = known.count > 0.0 ? std::min(least, known.mean) : least;
  }
  const double rounding = rounding_share_ * portable::exp(-2.0 * least) / 12.0;
  reached_.clear();
  for (std::size_t arm = 0; arm < arms_; ++arm) {
    if (evidence[arm].count > 0.0) {
      reached_.push_back(arm);
    }
  }
  std::ranges::sort(reached_, [evidence](std::size_t a, std::size_t b) {
    return evidence[a].count > evidence[b].count || (evidence[a].count == evidence[b].count && a < b);
  });
  double heaviest = -std::numeric_limits<double>::infinity();
  for (Component& component : components_) {
    std::ranges::fill(component.noises, levels_.expected(component.noise));
    std::ranges::copy(priors_[component.prior], component.covariance.begin());
    std::ranges::copy(component.prior_mean, component.mean.begin());
    for (std::size_t arm = 0; arm < arms_; ++arm) {
      component.covariance[arm * arms_ + arm] += rounding;
    }
    component.log_weight = 0.0;
    learn_reached(component, evidence);
    learn_stopped(component, evidence);
    heaviest = std::max(heaviest, component.log_weight);
  }
  double total = 0.0;
  constexpr double negligible = -12.0;
  for (Component& component : components_) {
    const double excess = component.log_weight - heaviest;
    component.weight = excess < negligible ? 0.0 : portable::exp(excess);
    total += component.weight;
  }
  for (Component& component : components_) {
    component.weight /= total;
  }
  mix();
  mix_stopped(evidence);
}

// The mean and covariance of the mixture of all components.
void EpochBelief::mix() {
  std::ranges::fill(mean_, 0.0);
  std::ranges::fill(covariance_, 0.0);
  std::ranges::fill(noise_, 0.0);
  for (const Component& component : components_) {
    for (std::size_t a = 0; a < arms_; ++a) {
      noise_[a] += component.weight * component.noises[a];
      mean_[a] += component.weight * component.mean[a];
    }
  }
  for (const Component& component : components_) {
    if (component.weight == 0.0) {
      continue;
    }
    for (std::size_t a = 0; a < arms_; ++a) {
      const double offset = component.mean[a] - mean_[a];
      for (std::size_t b = 0; b < arms_; ++b) {
        covariance_[a * arms_ + b] +=
            component.weight * (component.covariance[a * arms_ + b] + offset * (component.mean[b] - mean_[b]));
      }
    }
  }
}

void EpochBelief::mix_stopped(std::span<const EpochEvidence> evidence) {
  for (std::size_t arm = 0; arm < arms_; ++arm) {
    Stopped& stopped = stopped_[arm];
    stopped = Stopped{.any = evidence[arm].censored > 0.0, .bound = evidence[arm].bound};
    if (!stopped.any) {
      continue;
    }
    double square = 0.0;
    for (const Component& component : components_) {
      const double mean = component.others_mean[arm];
      stopped.mean += component.weight * mean;
      square += component.weight * (component.others_variance[arm] + mean * mean);
    }
    stopped.variance = std::max(square - stopped.mean * stopped.mean, 0.0);
    stopped.beyond = portable::normal_cdf((stopped.mean - stopped.bound) / std::sqrt(stopped.variance + noise_[arm]));
  }
  constexpr double unthinkable = 1e-9;
  for (std::size_t arm = 0; arm < arms_; ++arm) {
    like_[arm] = {};
    for (std::size_t other = 0; other < arms_; ++other) {
      if (!stopped_[other].any || stopped_[other].beyond < unthinkable) {
        continue;
      }
      const double share = covariance_[arm * arms_ + other] /
                           std::sqrt((variance(arm) + noise_[arm]) * (variance(other) + noise_[other]));
      if (other == arm) {
        like_[arm].itself = stopped_[arm].variance / (stopped_[arm].variance + noise_[arm]);
      } else if (share > like_[arm].share) {
        like_[arm].other = other;
        like_[arm].share = share;
      }
    }
  }
}

// Given that runs of an arm went on beyond a bound, the probability that another one has not reached the target there.
double EpochBelief::repeated(const Stopped& stopped, double noise, double log_epochs) {
  return log_epochs <= stopped.bound
             ? 1.0
             : portable::normal_cdf((stopped.mean - log_epochs) / std::sqrt(stopped.variance + noise)) / stopped.beyond;
}

double EpochBelief::survival(std::size_t arm, double log_epochs) const {
  const double smooth = portable::normal_cdf((mean_[arm] - log_epochs) / std::sqrt(variance(arm) + noise_[arm]));
  const Likeness& like = like_[arm];
  double most = smooth;
  if (like.itself > 0.0) {
    const double repeats = repeated(stopped_[arm], noise_[arm], log_epochs);
    most = like.itself * repeats + (1.0 - like.itself) * smooth;
  }
  if (like.share > 0.0) {
    const double repeats =
        repeated(stopped_[like.other], noise_[like.other], log_epochs + mean_[like.other] - mean_[arm]);
    most = std::max(most, like.share * repeats + (1.0 - like.share) * smooth);
  }
  return most;
}

}  // namespace zeus::optimize
