// What runs show about the epochs that each batch size needs. The logarithm of the epochs is a Gaussian process over
// log2 of the batch size. It is flat up to a critical batch size and grows beyond it, smooth apart from steps where
// epochs are few. The critical batch size, the smoothness, the spread and the noise of runs are unknown: the belief is
// a mixture over a small grid of them. Sometimes the noise of one arm differs from that of the others; this keeps one
// odd run from condemning an arm. A stopped run counts as a bound: it would have needed more epochs than it ran. A
// value; one thread at a time. fit() allocates nothing.
#pragma once

#include "optimize/batch_size/epoch_prior.hpp"
#include "optimize/batch_size/job_spec.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize {

// What is known of one arm, as sums over its runs, so that a long history needs no more memory than a short one.
struct EpochEvidence {
  double count = 0.0;     // runs that reached the target
  double mean = 0.0;      // mean of the logarithm of their epochs
  double squares = 0.0;   // sum of squared distances from that mean
  double latest = 0.0;    // the last of these logarithms
  double jumps = 0.0;     // half the squared differences between consecutive logarithms, summed: a change counts once
  double drift = 0.0;     // variance that changes of the job have added to the mean since
  double censored = 0.0;  // runs that were stopped short of the target
  double bound = 0.0;     // logarithm of the most epochs that any of the stopped runs took
  double missed = 0.0;    // how many of the stopped runs used all the epochs that the job allows

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.count, self.mean, self.squares, self.latest, self.jumps, self.drift, self.censored, self.bound,
            self.missed);
  }
};

class EpochBelief {
 public:
  // `octaves` are the positions of the arms, ascending: log2 of the batch size relative to the default one.
  explicit EpochBelief(std::span<const double> octaves, const EpochPrior& before = {});

  // Computes the belief again from all evidence, one entry for each arm.
  void fit(std::span<const EpochEvidence> evidence);

  // In log epochs: the mean and variance of an arm, and the variance of a single run about the mean of its arm.
  [[nodiscard]] double mean(std::size_t arm) const { return mean_[arm]; }
  [[nodiscard]] double variance(std::size_t arm) const { return covariance_[arm * arms_ + arm]; }
  [[nodiscard]] double noise(std::size_t arm) const { return noise_[arm]; }
  // The probability that a run of the arm has not reached the target at `log_epochs`. A normal distribution cannot
  // express that earlier runs went on beyond a bound; this does.
  [[nodiscard]] double survival(std::size_t arm, double log_epochs) const;

 private:
  // The levels of noise as variances, their logarithms, and the probability of each level.
  struct NoiseLevels {
    explicit NoiseLevels(const EpochPrior& prior);
    // The expected variance of an arm without runs.
    [[nodiscard]] double expected(std::size_t usual) const;
    // The logarithm of the probability of a level.
    [[nodiscard]] double log_share(std::size_t level, std::size_t usual) const {
      return level == usual ? log_usual : log_odd;
    }

    double usual_share;
    double odd_share;
    double log_usual;
    double log_odd;
    std::array<double, noise_levels> variance{};
    std::array<double, noise_levels> log_variance{};
  };
  struct Component {
    std::size_t noise = 0;  // which level of noise is the usual one
    std::size_t prior = 0;  // index in priors_ of the covariance between arms
    std::vector<double> prior_mean;
    // Computed by fit:
    std::vector<double> mean;
    std::vector<double> covariance;
    std::vector<double> noises;       // noise of each arm, given its runs
    std::vector<double> others_mean;  // mean of each stopped arm, given all other evidence
    std::vector<double> others_variance;
    double log_weight = 0.0;
    double weight = 0.0;
  };
  // An arm with stopped runs: what all other evidence predicts for it, and the bound that those runs passed.
  struct Stopped {
    bool any = false;
    double mean = 0.0;
    double variance = 0.0;
    double bound = 0.0;
    double beyond = 0.0;  // probability of passing the bound, given the other evidence
  };
  // How well stopped runs predict the next run of an arm: `itself` for the arm's own stopped runs, `share` for those of
  // the `other` arm that it correlates with most.
  struct Likeness {
    double itself = 0.0;
    std::size_t other = 0;
    double share = 0.0;
  };

  void condition(Component& component, std::size_t arm, double precision, double shift) const;
  void learn_reached(Component& component, std::span<const EpochEvidence> evidence) const;
  void learn_stopped(Component& component, std::span<const EpochEvidence> evidence) const;
  void mix();
  [[nodiscard]] static double repeated(const Stopped& stopped, double noise, double log_epochs);
  void mix_stopped(std::span<const EpochEvidence> evidence);

  std::size_t arms_;
  NoiseLevels levels_;
  double rounding_share_;
  std::vector<std::vector<double>> priors_;  // covariances between arms, arms x arms
  std::vector<Component> components_;
  std::vector<double> mean_;
  std::vector<double> covariance_;
  std::vector<double> noise_;
  std::vector<Stopped> stopped_;
  std::vector<Likeness> like_;
  std::vector<std::size_t> reached_;  // the arms that have reached the target, those with the most runs first
};

}  // namespace zeus::optimize
