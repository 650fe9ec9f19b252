// What is known of a quantity per step (time, say, or energy) under several settings, from slices measured one after
// the other while the machine warms up: Bayesian regression, in closed form, of the logarithm of each slice's mean on
// its setting and on a drift common to all settings,
//
//     log mean of slice s = level(setting of s) + drift(position of s) + noise,
//
// where the drift dies away (a sum of three exponentials of unknown amplitude: within tens of steps, of hundreds, and
// between), so that `level` is what holds when it is over; the noise is that of single steps, whose spread is unknown
// and the same everywhere, and that of the window, which is told. The spread is averaged over a grid, by how well each
// explains the slices. Deterministic to the last bit on every machine. One owner, one thread.
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize {

struct DriftObservation {
  std::size_t setting = 0;  // those seen so far, and at most one more than those
  double position = 0.0;    // steps since profiling began; infinite where no drift is left
  double steps = 0.0;       // how many steps it is the mean of; infinite where `deviation` says it all
  double log_mean = 0.0;
  double deviation = 0.0;  // standard deviation that the window adds to log_mean
};

class DriftModel {
 public:
  void add(const DriftObservation& observation);
  // After the last add and before what follows.
  void fit();

  [[nodiscard]] std::size_t settings() const { return settings_; }
  [[nodiscard]] double level(std::size_t setting) const;
  [[nodiscard]] double deviation(std::size_t setting) const;  // of the level
  // One possible set of levels, for each setting, drawn from what is known.
  void draw(Random& random, std::span<double> levels) const;

 private:
  static constexpr std::size_t drift_terms = 3;
  static constexpr std::size_t spreads = 6;

  // What is known if single steps scatter by a given spread.
  struct Posterior {
    double log_evidence = 0.0;
    double weight = 0.0;
    std::vector<double> mean;
    std::vector<double> factor;  // lower Cholesky factor of the precision, by rows
  };

  [[nodiscard]] Posterior posterior(double spread) const;
  [[nodiscard]] double variance(const Posterior& posterior, std::size_t setting) const;

  std::vector<DriftObservation> observations_;
  std::size_t settings_ = 0;
  double centre_ = 0.0;
  std::array<Posterior, spreads> posteriors_;
};

}  // namespace zeus::optimize
