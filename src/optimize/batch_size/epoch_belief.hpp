// What runs tell about the epochs that each batch size needs. The logarithm of the epochs is a Gaussian process over
// log2 of the batch size: flat up to a critical batch size and growing beyond it, smooth about that, with steps where
// epochs are few. Where the curve bends, how smooth it is, how far it strays and how noisy runs are is not known: the
// belief is a mixture over a small grid of all of these. Now and then an arm is not as noisy as the others, so that one
// odd run does not condemn it. Runs that were stopped count as what they are: the epochs they
// would have needed exceed those they ran. A value; one thread at a time. fit() allocates nothing.
#pragma once

#include "optimize/batch_size/epoch_prior.hpp"
#include "optimize/batch_size/job_spec.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize {

// What is known of one arm: sums over its runs, so that a long history costs nothing.
struct EpochEvidence {
  double count = 0.0;     // of runs that reached the target
  double mean = 0.0;      // of the logarithm of their epochs
  double squares = 0.0;   // sum of squared distances from that mean
  double latest = 0.0;    // of these logarithms
  double jumps = 0.0;     // sum of half the squared differences of each to the one before: a change counts in it once
  double drift = 0.0;     // variance that changes of the job have added to that mean since
  double censored = 0.0;  // how many runs were stopped short of the target
  double bound = 0.0;     // logarithm of the most epochs that any of these ran
  double missed = 0.0;    // how many of these had all the epochs that the job allows

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.count, self.mean, self.squares, self.latest, self.jumps, self.drift, self.censored, self.bound,
            self.missed);
  }
};

class EpochBelief {
 public:
  // `octaves` are the arms' places, ascending: log2 of the batch size relative to the default one.
  explicit EpochBelief(std::span<const double> octaves, const EpochPrior& before = {});

  // Works the belief out again from all evidence, one entry for each arm.
  void fit(std::span<const EpochEvidence> evidence);

  // Of log epochs: the mean and variance of an arm, and the variance of a single run about its arm.
  [[nodiscard]] double mean(std::size_t arm) const { return mean_[arm]; }
  [[nodiscard]] double variance(std::size_t arm) const { return covariance_[arm * arms_ + arm]; }
  [[nodiscard]] double noise(std::size_t arm) const { return noise_[arm]; }
  // The probability that a run of the arm is short of the target at `log_epochs`. A normal distribution cannot say that
  // runs were seen to go on beyond a bound; this does.
  [[nodiscard]] double survival(std::size_t arm, double log_epochs) const;

 private:
  // The levels of noise as variances, their logarithms, and how probable each is of an arm.
  struct NoiseLevels {
    explicit NoiseLevels(const EpochPrior& prior);
    // The variance to expect of an arm without runs.
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
    std::size_t prior = 0;  // which of priors_ is its covariance between arms
    std::vector<double> prior_mean;
    // Worked out by fit:
    std::vector<double> mean;
    std::vector<double> covariance;
    std::vector<double> noises;       // of each arm, as its runs have it
    std::vector<double> others_mean;  // of each stopped arm, as all other evidence has it
    std::vector<double> others_variance;
    double log_weight = 0.0;
    double weight = 0.0;
  };
  // An arm with stopped runs: what all other evidence says of it, and the bound that those runs passed.
  struct Stopped {
    bool any = false;
    double mean = 0.0;
    double variance = 0.0;
    double bound = 0.0;
    double beyond = 0.0;  // probability, by the other evidence, of passing the bound
  };
  // How far a run of an arm foretells the next one: where runs of it were stopped, and where those of another one were,
  // of that which it is most like.
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
  std::vector<std::size_t> reached_;  // the arms that ever reached the target, those with most runs first
};

}  // namespace zeus::optimize
