// Tells when runs of a batch size no longer take what they used to: a two-sided cumulative sum of how surprising each
// is (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954). A value; one thread at a time.
#pragma once

#include <algorithm>

namespace zeus::optimize {

class ChangeDetector {
 public:
  // `surprise` is in standard deviations of what was expected, positive for more. True when the sum says that what was
  // known no longer holds; it then starts again.
  bool observe(double surprise) {
    const double bounded = std::clamp(surprise, -most_surprise, most_surprise);
    above_ = std::max(0.0, above_ + bounded - allowance);
    below_ = std::max(0.0, below_ - bounded - allowance);
    if (std::max(above_, below_) < alarm) {
      return false;
    }
    *this = ChangeDetector{};
    return true;
  }

  static constexpr double most_surprise = 5.0;  // a single odd run proves nothing

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.above_, self.below_);
  }

 private:
  static constexpr double allowance = 0.75;
  static constexpr double alarm = 8.0;

  double above_ = 0.0;
  double below_ = 0.0;
};

}  // namespace zeus::optimize
