// Detects that runs no longer take what they used to, whichever way each batch size has moved: a cumulative sum of log
// likelihood ratios (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954). A value; one thread at a time.
#pragma once

#include "base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

class ChangeDetector {
 public:
  struct Tuning {
    // A change moves the logarithms of epochs by about this much.
    double distance = 0.5;
    // The probability that a run is odd without a change: no single run says more than its reciprocal.
    double odd = 0.1;
    // The odds of a change, as a logarithm, that make it one.
    double alarm = 3.0;
  };

  explicit ChangeDetector(const Tuning& tuning) : tuning_{tuning} {}

  // A run was `distance` from what was expected of it, with that variance. True if the job has changed; the sum then
  // starts again.
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

  // Nothing speaks for a change.
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
