#include "optimize/power_limit/limit_curve.hpp"

#include "records/energy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace zeus::optimize {

namespace {

// Plausible values, each as likely as the others. Powers are parts of the highest that was measured.
constexpr std::array free_powers{1.0, 1.05, 1.1, 1.2, 1.35, 1.5};
constexpr std::array waiting_powers{0.05, 0.15, 0.25, 0.35};
constexpr std::array alphas{1.0, 1.5, 2.0, 2.5, 3.0};
constexpr std::array busy_shares{0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0};
// Standard deviations of the logarithm of a time.
constexpr std::array scatters{0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16};
// Of the smooth deviation from a curve, and how far it is alike, in the logarithm of power.
constexpr std::array misfits{0.005, 0.02, 0.05, 0.15};
constexpr double smooth_over = 0.3;
// Limits are measured one after the other, while the training itself may change: the standard deviation of what that
// adds to the logarithm of a ratio. Enough for nine of ten trainings whose steps drift by up to 20 % in a run
// (tests/run/run_truth --alone).
constexpr double drift_between_limits = 0.01;
// Where a power comes so close to the waiting power, the curve says nothing.
constexpr double least_room = 0.03;

struct Point {
  double power = 0.0;  // relative to the highest
  double log_time = 0.0;
  double variance = 0.0;  // of log_time, as its slice knows it
};

std::vector<Point> points_of(std::span<const records::PowerMeasurement> limits) {
  std::vector<Point> points;
  double highest = 0.0;
  for (const records::PowerMeasurement& one : limits) {
    const double power = one.step_energy.value / one.step_time / Watts{1};
    const double deviation = one.step_time_uncertainty / one.step_time / records::normal_95;
    points.push_back({.power = power, .log_time = std::log(one.step_time.value()), .variance = deviation * deviation});
    highest = std::max(highest, power);
  }
  for (Point& point : points) {
    point.power /= highest;
  }
  return points;
}

// A mean and a variance over weighted normal distributions. That the scatter is found from few limits is part of it.
class Mixture {
 public:
  void add(double log_weight, double mean, double variance) {
    if (log_weight > most_) {
      const double shrunk = std::exp(most_ - log_weight);
      weight_ *= shrunk;
      sum_ *= shrunk;
      squares_ *= shrunk;
      most_ = log_weight;
    }
    const double weight = std::exp(log_weight - most_);
    weight_ += weight;
    sum_ += weight * mean;
    squares_ += weight * (mean * mean + variance);
  }
  [[nodiscard]] double mean() const { return sum_ / weight_; }
  [[nodiscard]] double deviation() const { return std::sqrt(std::max(0.0, squares_ / weight_ - mean() * mean())); }

 private:
  double most_ = -1e300;
  double weight_ = 0.0;
  double sum_ = 0.0;
  double squares_ = 0.0;
};

// What is not explained by a curve: a smooth deviation from it, and scatter.
class Residuals {
 public:
  Residuals(const std::vector<Point>& points, double misfit, double scatter, std::size_t from, std::size_t to)
      : size_{points.size()}, factor_(size_ * size_), ones_(size_), gain_(size_) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        factor_[i * size_ + j] = smooth(points[i], points[j], misfit);
      }
      factor_[i * size_ + i] += points[i].variance + scatter * scatter;
    }
    factorize();
    std::ranges::fill(ones_, 1.0);
    solve_lower(ones_);
    for (std::size_t i = 0; i < size_; ++i) {
      gain_[i] = smooth(points[to], points[i], misfit) - smooth(points[from], points[i], misfit);
    }
    variance_ = smooth(points[to], points[to], misfit) + smooth(points[from], points[from], misfit) -
                2.0 * smooth(points[to], points[from], misfit);
    solve_lower(gain_);
    precision_ = dot(ones_, ones_);
    variance_ -= dot(gain_, gain_);
    // The scale is not known, and what is learned of it belongs to the deviation.
    const double shared = dot(gain_, ones_);
    variance_ += shared * shared / precision_;
  }

  struct Explained {
    double log_weight = 0.0;
    double deviation = 0.0;  // from the curve, between both limits
  };
  // `off` is overwritten.
  [[nodiscard]] Explained explain(std::vector<double>& off) const {
    solve_lower(off);
    const double scale = dot(off, ones_) / precision_;
    double squares = 0.0;
    double deviation = 0.0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double left = off[i] - scale * ones_[i];
      squares += left * left;
      deviation += gain_[i] * left;
    }
    return {.log_weight = -0.5 * (squares + std::log(precision_)) - log_determinant_, .deviation = deviation};
  }
  [[nodiscard]] double variance() const { return std::max(0.0, variance_); }

 private:
  [[nodiscard]] static double smooth(const Point& a, const Point& b, double misfit) {
    const double distance = std::log(a.power / b.power) / smooth_over;
    return misfit * misfit * std::exp(-0.5 * distance * distance);
  }
  [[nodiscard]] static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }
  // Cholesky.
  void factorize() {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = factor_[i * size_ + j];
        for (std::size_t k = 0; k < j; ++k) {
          sum -= factor_[i * size_ + k] * factor_[j * size_ + k];
        }
        factor_[i * size_ + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / factor_[j * size_ + j];
      }
      log_determinant_ += std::log(factor_[i * size_ + i]);
    }
  }
  void solve_lower(std::vector<double>& vector) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        vector[i] -= factor_[i * size_ + k] * vector[k];
      }
      vector[i] /= factor_[i * size_ + i];
    }
  }

  std::size_t size_;
  std::vector<double> factor_;  // lower, by rows
  double log_determinant_ = 0.0;
  std::vector<double> ones_;
  double precision_ = 0.0;
  std::vector<double> gain_;
  double variance_ = 0.0;
};

class CurveFit {
 public:
  CurveFit(std::vector<Point> points, std::size_t from, std::size_t to)
      : points_{std::move(points)}, from_{from}, to_{to}, shape_(points_.size()), off_(points_.size()) {
    for (const double misfit : misfits) {
      for (const double scatter : scatters) {
        residuals_.emplace_back(points_, misfit, scatter, from_, to_);
      }
    }
  }

  // Of the logarithm of the ratio of both times.
  [[nodiscard]] Mixture log_ratio() {
    Mixture all;
    for (const double free : free_powers) {
      for (const double waiting : waiting_powers) {
        for (const double alpha : alphas) {
          for (const double busy : busy_shares) {
            if (draw(free, waiting, alpha, busy)) {
              weigh(all);
            }
          }
        }
      }
    }
    return all;
  }

 private:
  bool draw(double free, double waiting, double alpha, double busy) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double room = points_[i].power - waiting;
      if (room < least_room) {
        return false;
      }
      shape_[i] = std::log(busy * std::pow((free - waiting) / room, 1.0 / alpha) + 1.0 - busy);
    }
    return true;
  }

  // By how well this curve explains the times, with any scale.
  void weigh(Mixture& all) {
    for (const Residuals& residuals : residuals_) {
      for (std::size_t i = 0; i < points_.size(); ++i) {
        off_[i] = points_[i].log_time - shape_[i];
      }
      const Residuals::Explained explained = residuals.explain(off_);
      all.add(explained.log_weight, shape_[to_] - shape_[from_] + explained.deviation, residuals.variance());
    }
  }

  std::vector<Point> points_;
  std::size_t from_;
  std::size_t to_;
  std::vector<Residuals> residuals_;
  std::vector<double> shape_;
  std::vector<double> off_;
};

RelativeChange change_of(double log_ratio, double deviation) {
  const double ratio = std::exp(log_ratio);
  return {.value = ratio - 1.0, .half_width = ratio * records::normal_95 * deviation};
}

// Of the logarithm of a power. Its energy and time scatter together, so that what is left is the counter's.
double power_deviation(const records::PowerMeasurement& one) {
  const double energy = one.step_energy.uncertainty / one.step_energy.value / records::normal_95;
  const double time = one.step_time_uncertainty / one.step_time / records::normal_95;
  return std::sqrt(std::max(0.0, energy * energy - time * time));
}

}  // namespace

StepChange step_change(std::span<const records::PowerMeasurement> limits, std::size_t from, std::size_t to) {
  const std::vector<Point> points = points_of(limits);
  const double log_power = std::log(points[to].power / points[from].power);
  const Mixture fit = CurveFit{points, from, to}.log_ratio();
  const double time_deviation = std::hypot(fit.deviation(), drift_between_limits);
  const double energy_deviation =
      std::hypot(time_deviation, power_deviation(limits[from]), power_deviation(limits[to]));
  return {.time = change_of(fit.mean(), time_deviation), .energy = change_of(fit.mean() + log_power, energy_deviation)};
}

std::optional<StepChange> step_change(const records::PowerProfile& profile, const records::PowerSetting& from,
                                      const records::PowerSetting& to) {
  std::vector<records::PowerMeasurement> known = profile.measurements;
  std::erase_if(known, [](const records::PowerMeasurement& one) {
    return !(one.step_time > Seconds{} && one.step_energy.value > Joules{});
  });
  const auto first = std::ranges::find(known, from, &records::PowerMeasurement::setting);
  const auto second = std::ranges::find(known, to, &records::PowerMeasurement::setting);
  if (first == known.end() || second == known.end()) {
    return std::nullopt;
  }
  return step_change(known, static_cast<std::size_t>(first - known.begin()),
                     static_cast<std::size_t>(second - known.begin()));
}

}  // namespace zeus::optimize
