// What Gaussian Thompson sampling believes about one batch size: a normal belief about its mean cost, computed from a
// normal prior and the costs seen. The variance of the costs is learned too (algorithm 2 of the NSDI'23 paper). A
// value; one thread at a time.
#pragma once

#include "optimize/batch_size/job_spec.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::optimize {

class ThompsonArm {
 public:
  // Remembers the last `window` costs, or all of them if `window` is 0.
  explicit ThompsonArm(std::size_t window) : window_{window} {}

  void set_prior(const PriorBelief& prior);
  void observe(Joules cost);
  // Multiplies all costs seen, and the prior, by a factor: for another GPU, on which an epoch costs that many times as
  // much.
  void scale(double factor);

  // How many costs the belief uses.
  [[nodiscard]] std::size_t count() const { return count_; }
  // The mean and standard deviation of the belief. Requires a prior, or a count() above 0.
  [[nodiscard]] Joules mean() const { return Joules{mean_}; }
  [[nodiscard]] Joules deviation() const { return Joules{deviation_}; }
  [[nodiscard]] bool believes() const { return count_ > 0 || prior_; }

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.prior_, self.recent_, self.oldest_, self.count_, self.average_, self.squares_, self.mean_,
            self.deviation_);
  }

 private:
  void refit();

  std::size_t window_;
  std::optional<PriorBelief> prior_;
  std::vector<double> recent_;  // the last costs, as a ring, if there is a window
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
  double average_ = 0.0;  // of the costs remembered
  double squares_ = 0.0;  // sum of their squared distances from the average
  double mean_ = 0.0;
  double deviation_ = 0.0;
};

}  // namespace zeus::optimize
