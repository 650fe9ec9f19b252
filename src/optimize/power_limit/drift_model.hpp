// Estimates a quantity per step (time or energy, for example) under several settings, from slices measured one after
// the other while the machine warms up. The model is a Bayesian regression in closed form. It explains the logarithm of
// each slice's mean by its setting and a drift common to all settings:
//
//     log mean of slice s = level(setting of s) + drift(position of s) + noise,
//
// The drift decays. It is a sum of three exponentials of unknown amplitude: one decays within tens of steps, one within
// hundreds, one between. `level` is therefore the value after the drift is over. The noise has two parts: that of
// single steps, whose spread is unknown and the same everywhere, and that of the window, which is given. The spread is
// averaged over a grid, weighted by how well each value explains the slices. The result is the same to the last bit on
// every machine. One owner, one thread.
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace zeus::optimize {

struct DriftObservation {
  std::size_t setting = 0;  // an index already seen, or the next new one
  double position = 0.0;    // steps since profiling began; infinite if no drift is left
  double steps = 0.0;       // how many steps it is the mean of; infinite if `deviation` holds all the noise
  double log_mean = 0.0;
  double deviation = 0.0;  // standard deviation that the window adds to log_mean
};

class DriftModel {
 public:
  void add(const DriftObservation& observation);
  // Call it after the last add() and before the functions below.
  void fit();

  [[nodiscard]] std::size_t settings() const { return settings_; }
  [[nodiscard]] double level(std::size_t setting) const;
  [[nodiscard]] double deviation(std::size_t setting) const;  // of the level
  // Draws one plausible level for each setting.
  void draw(Random& random, std::span<double> levels) const;

 private:
  static constexpr std::size_t drift_terms = 3;
  static constexpr std::size_t spreads = 6;

  // The posterior, if single steps scatter by a given spread.
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
