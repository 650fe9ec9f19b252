#include "physics/training_profile.hpp"

#include "base/portable_math.hpp"
#include "physics/kernel_curve.hpp"
#include "physics/operating_point.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::physics {

namespace {

// Kernels and host at one activity: the logarithms of the seconds that each takes per epoch at the highest clock.
struct Split {
  double log_kernels = 0.0;
  double log_host = 0.0;
};

// The two-parameter problem that remains if the activity is given: each limit then has a known clock, and the kernels a
// known time and power. Solved by Gauss-Newton steps on reweighted relative errors.
class SplitFit {
 public:
  SplitFit(const GpuModel& model, std::span<const EpochObservation> observations, double activity, double tolerance)
      : observations_{observations},
        curve_{model, Demand::of_work(1.0, activity, model.power.memory_time), model.power.reference},
        overlap_{model.power.overlap},
        tolerance_{tolerance} {
    for (const EpochObservation& seen : observations) {
      points_.push_back(curve_.within(seen.limit, model.power.lowest_capped, 1.0));
    }
  }

  Split solve() {
    Split split = guess();
    for (int step = 0; step < 12; ++step) {
      improve(split);
    }
    return split;
  }

  // The sum, over times and powers, of a loss that is quadratic for small errors and linear for large ones.
  [[nodiscard]] double loss(const Split& split) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Errors errors = errors_at(split, i);
      sum += std::hypot(errors.time / tolerance_, 1.0) + std::hypot(errors.power / tolerance_, 1.0);
    }
    return sum;
  }

 private:
  struct Errors {
    double time = 0.0;   // log of measured over predicted
    double power = 0.0;  // the same
    double kernel_part = 0.0;
    double power_slope = 0.0;
  };

  // From the share of time in which kernels ran, as the mean power implies.
  [[nodiscard]] Split guess() const {
    Split split;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const EpochObservation& seen = observations_[i];
      const double range = (points_[i].power - curve_.waiting()).value();
      const double share = std::clamp((seen.power - curve_.waiting()).value() / (range + 1e-9), 0.02, 0.98);
      split.log_kernels += portable::log(seen.time.value() * share / points_[i].time);
      const double host = portable::pow(1.0 - portable::pow(share, overlap_), 1.0 / overlap_);
      split.log_host += portable::log(seen.time.value() * host);
    }
    split.log_kernels /= static_cast<double>(points_.size());
    split.log_host /= static_cast<double>(points_.size());
    return split;
  }

  [[nodiscard]] Errors errors_at(const Split& split, std::size_t i) const {
    const double kernels = portable::exp(split.log_kernels) * points_[i].time;
    const double time = step_time(kernels, portable::exp(split.log_host), overlap_);
    const double share = kernels / time;
    const Watts power = points_[i].power * share + curve_.waiting() * (1.0 - share);
    return {.time = portable::log(observations_[i].time.value() / time),
            .power = portable::log(observations_[i].power / power),
            .kernel_part = portable::pow(share, overlap_),
            .power_slope = (points_[i].power - curve_.waiting()) * share / power};
  }

  void improve(Split& split) const {
    constexpr double damping = 0.3;
    double aa = damping;
    double ab = 0.0;
    double bb = damping;
    double ra = 0.0;
    double rb = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Errors errors = errors_at(split, i);
      const double time_weight = 1.0 / std::max(std::abs(errors.time), tolerance_);
      const double power_weight = 1.0 / std::max(std::abs(errors.power), tolerance_);
      const double time_a = errors.kernel_part;
      const double time_b = 1.0 - errors.kernel_part;
      const double power_a = errors.power_slope * time_b;
      aa += time_weight * time_a * time_a + power_weight * power_a * power_a;
      ab += time_weight * time_a * time_b - power_weight * power_a * power_a;
      bb += time_weight * time_b * time_b + power_weight * power_a * power_a;
      ra += time_weight * time_a * errors.time + power_weight * power_a * errors.power;
      rb += time_weight * time_b * errors.time - power_weight * power_a * errors.power;
    }
    const double determinant = aa * bb - ab * ab;
    split.log_kernels += std::clamp((ra * bb - rb * ab) / determinant, -1.0, 1.0);
    split.log_host += std::clamp((rb * aa - ra * ab) / determinant, -1.0, 1.0);
  }

  std::span<const EpochObservation> observations_;
  KernelCurve curve_;
  double overlap_;
  double tolerance_;
  std::vector<KernelPoint> points_;
};

}  // namespace

Demand demand_of(const GpuModel& model, const TrainingProfile& profile) {
  return Demand::of_work(profile.busy, profile.activity, model.power.memory_time);
}

EpochObservation predict(const GpuModel& model, const Controls& controls, const TrainingProfile& profile) {
  const OperatingPoint point = settle(model, controls, demand_of(model, profile), model.power.reference);
  return {.limit = controls.enforced_limit(), .time = profile.epoch / point.speed, .power = point.power};
}

EpochObservation predict(const GpuModel& model, Watts limit, const TrainingProfile& profile) {
  Controls controls = Controls::defaults(model);
  controls.requested_limit = limit;
  return predict(model, controls, profile);
}

TrainingProfile fit_profile(const GpuModel& model, std::span<const EpochObservation> observations, double tolerance) {
  if (observations.size() < 2 || std::ranges::all_of(observations, [&](const EpochObservation& o) {
        return o.limit == observations.front().limit;
      })) {
    throw Error{ErrorKind::invalid_argument,
                "a training profile cannot be fitted to epochs under fewer than two limits",
                "measure an epoch under at least two power limits"};
  }
  constexpr double lowest_activity = 0.08;
  constexpr double highest_activity = 3.2;
  constexpr int activities = 96;
  const double ratio = portable::pow(highest_activity / lowest_activity, 1.0 / (activities - 1));
  double best = 0.0;
  TrainingProfile profile;
  double activity = lowest_activity;
  for (int i = 0; i < activities; ++i, activity *= ratio) {
    SplitFit fit{model, observations, activity, tolerance};
    const Split split = fit.solve();
    const double loss = fit.loss(split);
    if (i == 0 || loss < best) {
      best = loss;
      const double kernels = portable::exp(split.log_kernels);
      profile.epoch = Seconds{step_time(kernels, portable::exp(split.log_host), model.power.overlap)};
      profile.busy = kernels / profile.epoch.value();
      profile.activity = activity;
    }
  }
  return profile;
}

}  // namespace zeus::physics
