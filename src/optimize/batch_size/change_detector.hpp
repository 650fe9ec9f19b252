// Tells when runs of a batch size no longer take what they used to: a two-sided cumulative sum of how surprising each
// is (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954). A value; one thread at a time.
#pragma once

#include <algorithm>

namespace zeus::optimize {

class ChangeDetector {
 public:
  struct Tuning {
    double most_surprise = 5.0;  // a single odd run proves nothing
    double allowance = 0.75;
    double alarm = 8.0;
  };

  explicit ChangeDetector(const Tuning& tuning) : tuning_{tuning} {}

  // `surprise` is in standard deviations of what was expected, positive for more. True when the sum says that what was
  // known no longer holds; it then starts again.
  bool observe(double surprise) {
    const double bounded = std::clamp(surprise, -tuning_.most_surprise, tuning_.most_surprise);
    above_ = std::max(0.0, above_ + bounded - tuning_.allowance);
    below_ = std::max(0.0, below_ - bounded - tuning_.allowance);
    if (std::max(above_, below_) < tuning_.alarm) {
      return false;
    }
    above_ = 0.0;
    below_ = 0.0;
    return true;
  }

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.above_, self.below_);
  }

 private:
  Tuning tuning_;
  double above_ = 0.0;
  double below_ = 0.0;
};

}  // namespace zeus::optimize
