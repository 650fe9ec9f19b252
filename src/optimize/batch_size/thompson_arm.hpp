// What Gaussian Thompson sampling believes of one batch size: a normal belief about its mean cost, from a normal prior
// and the costs seen, whose variance is learned too (algorithm 2 of the NSDI'23 paper). A value; one thread at a time.
#pragma once

#include "optimize/batch_size/job_spec.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace zeus::optimize {

class ThompsonArm {
 public:
  // Remembers the last `window` costs, or all of them for 0.
  explicit ThompsonArm(std::size_t window) : window_{window} {}

  void set_prior(const PriorBelief& prior);
  void observe(Joules cost);
  // Translates all that was seen (and believed before) by a factor: another GPU, where an epoch costs that much more.
  void scale(double factor);

  // How many costs the belief rests on.
  [[nodiscard]] std::size_t count() const { return count_; }
  // The belief's mean and standard deviation; count() is above 0 or there is a prior.
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
  std::vector<double> recent_;  // the last costs, as a ring, when there is a window
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
  double average_ = 0.0;  // of the costs remembered
  double squares_ = 0.0;  // sum of their squared distances from it
  double mean_ = 0.0;
  double deviation_ = 0.0;
};

}  // namespace zeus::optimize
