#include "optimize/batch_size/thompson_arm.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::optimize {

namespace {

// Equal costs would give a learned variance of 0, and no later cost could move the belief. Costs that differ by less
// than a fiftieth count as if they differed by that much.
constexpr double least_relative_deviation = 0.02;

}  // namespace

void ThompsonArm::set_prior(const PriorBelief& prior) {
  prior_ = prior;
  refit();
}

void ThompsonArm::observe(Joules cost) {
  if (window_ == 0) {
    // Welford's update: constant work and memory however long the job recurs.
    ++count_;
    const double step = cost.value() - average_;
    average_ += step / static_cast<double>(count_);
    squares_ += step * (cost.value() - average_);
  } else {
    if (recent_.size() < window_) {
      recent_.push_back(cost.value());
    } else {
      recent_[oldest_] = cost.value();
      oldest_ = (oldest_ + 1) % window_;
    }
  }
  refit();
}

void ThompsonArm::scale(double factor) {
  average_ *= factor;
  squares_ *= factor * factor;
  for (double& cost : recent_) {
    cost *= factor;
  }
  if (prior_) {
    prior_->mean *= factor;
    prior_->deviation *= factor;
  }
  refit();
}

void ThompsonArm::refit() {
  if (window_ > 0) {
    count_ = recent_.size();
    average_ = 0.0;
    for (const double cost : recent_) {
      average_ += cost / static_cast<double>(count_);
    }
    squares_ = 0.0;
    for (const double cost : recent_) {
      squares_ += (cost - average_) * (cost - average_);
    }
  }
  if (count_ == 0) {
    if (prior_) {
      mean_ = prior_->mean.value();
      deviation_ = prior_->deviation.value();
    }
    return;
  }
  const auto count = static_cast<double>(count_);
  const double floor = least_relative_deviation * average_;
  const double variance = std::max({squares_ / count, floor * floor, 1e-300});
  double precision = count / variance;
  double weighted = precision * average_;
  if (prior_) {
    const double prior_precision = 1.0 / (prior_->deviation.value() * prior_->deviation.value());
    precision += prior_precision;
    weighted += prior_precision * prior_->mean.value();
  }
  mean_ = weighted / precision;
  deviation_ = std::sqrt(1.0 / precision);
}

}  // namespace zeus::optimize
