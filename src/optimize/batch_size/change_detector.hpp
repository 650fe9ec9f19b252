// Detects that runs no longer take what they used to, in whichever direction each batch size has moved. It keeps a
// cumulative sum of log likelihood ratios (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954). A value;
// one thread at a time.
#pragma once

#include "base/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zeus::optimize {

class ChangeDetector {
 public:
  struct Tuning {
    // A change moves the logarithm of the epochs by about this much.
    double distance = 0.5;
    // The probability that a run is an outlier without a change. A single run cannot raise the odds of a change by more
    // than the reciprocal.
    double odd = 0.1;
    // The logarithm of the odds at which a change is reported.
    double alarm = 3.0;
  };

  explicit ChangeDetector(const Tuning& tuning) : tuning_{tuning} {}

  // A run was `distance` from the expected value, with that variance. Returns true if the job has changed; the sum then
  // starts again at 0.
  bool observe(double distance, double variance) {
    const double moved = variance + tuning_.distance * tuning_.distance;
    const double ratio = 0.5 * (portable::log(variance / moved) + distance * distance * (1.0 / variance - 1.0 / moved));
    sum_ = std::max(0.0, sum_ - portable::log(tuning_.odd + (1.0 - tuning_.odd) * portable::exp(-ratio)));
    if (sum_ < tuning_.alarm) {
      return false;
    }
    sum_ = 0.0;
    return true;
  }

  // The logarithm of the probability density of a run at that distance from what was expected, odd runs included.
  [[nodiscard]] double log_density(double distance, double variance) const {
    const auto normal = [distance](double of) {
      return portable::exp(-0.5 * distance * distance / of) / std::sqrt(of);
    };
    const double density =
        (1.0 - tuning_.odd) * normal(variance) + tuning_.odd * normal(variance + tuning_.distance * tuning_.distance);
    return portable::log(std::max(density, std::numeric_limits<double>::min()));
  }

  // True while no evidence for a change has accumulated.
  [[nodiscard]] bool calm() const { return sum_ == 0.0; }

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.sum_);
  }

 private:
  Tuning tuning_;
  double sum_ = 0.0;
};

}  // namespace zeus::optimize
