#include "base/portable_math.hpp"
#include "research/goodput.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace zeus::research {

namespace {

constexpr double price_of_overlap = 1e-3;
constexpr double price_of_further_devices = 1e-2;
constexpr double most_overlap = 10.0;
constexpr Seconds shortest_part{1e-8};

struct Corner {
  std::vector<double> at;
  double value = 0.0;
};

// The point on the line from `from` through `through`, `times` as far.
std::vector<double> beyond(const std::vector<double>& from, const std::vector<double>& through, double times) {
  std::vector<double> point = from;
  for (std::size_t i = 0; i < point.size(); ++i) {
    point[i] += times * (through[i] - from[i]);
  }
  return point;
}

// One run of Nelder and Mead's method.
template <typename Of>
Corner walk_downhill(const Of& of, const Corner& start) {
  constexpr double first_step = 0.5;
  constexpr double flat = 1e-12;
  constexpr int most_moves = 600;
  std::vector<Corner> corners{start};
  for (std::size_t i = 0; i < start.at.size(); ++i) {
    Corner corner = start;
    corner.at[i] += first_step;
    corner.value = of(corner.at);
    corners.push_back(std::move(corner));
  }
  const auto corner_at = [&](std::vector<double> point) {
    const double value = of(point);
    return Corner{.at = std::move(point), .value = value};
  };
  for (int move = 0; move < most_moves; ++move) {
    std::ranges::sort(corners, {}, &Corner::value);
    Corner& worst = corners.back();
    if (worst.value - corners.front().value < flat) {
      break;
    }
    std::vector<double> middle(start.at.size());
    for (std::size_t i = 0; i < middle.size(); ++i) {
      for (std::size_t corner = 0; corner + 1 < corners.size(); ++corner) {
        middle[i] += corners[corner].at[i] / static_cast<double>(corners.size() - 1);
      }
    }
    Corner reflected = corner_at(beyond(worst.at, middle, 2.0));
    if (reflected.value < corners.front().value) {
      Corner expanded = corner_at(beyond(worst.at, middle, 3.0));
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
      continue;
    }
    if (reflected.value < corners[corners.size() - 2].value) {
      worst = std::move(reflected);
      continue;
    }
    Corner contracted = corner_at(beyond(worst.at, middle, reflected.value < worst.value ? 1.5 : 0.5));
    if (contracted.value < std::min(reflected.value, worst.value)) {
      worst = std::move(contracted);
      continue;
    }
    for (std::size_t corner = 1; corner < corners.size(); ++corner) {
      corners[corner] = corner_at(beyond(corners.front().at, corners[corner].at, 0.5));
    }
  }
  return *std::ranges::min_element(corners, {}, &Corner::value);
}

// Begun again where it ended, until that brings nothing: a run may have narrowed too early.
template <typename Of>
Corner lowest(const Of& of, const std::vector<double>& start) {
  constexpr double worth_another_run = 1e-9;
  constexpr int most_runs = 12;
  Corner best{.at = start, .value = of(start)};
  for (int run = 0; run < most_runs; ++run) {
    Corner found = walk_downhill(of, best);
    const bool done = best.value - found.value < worth_another_run;
    if (found.value < best.value) {
      best = std::move(found);
    }
    if (done) {
      break;
    }
  }
  return best;
}

double root_mean_square(double sum, std::size_t count) {
  return std::sqrt(sum / static_cast<double>(count));
}

class StepFit {
 public:
  explicit StepFit(std::span<const StepObservation> observations) : observations_{observations} {
    Seconds sum;
    Seconds rest;
    for (const StepObservation& one : observations) {
      sum += one.compute;
      rest += std::max(one.step - one.compute, shortest_part);
      shares_differ_ = shares_differ_ || one.per_device != observations.front().per_device;
      exchanges_ = exchanges_ || one.devices > 1;
      further_ = further_ || one.devices > 2;
    }
    half_ = sum / (2.0 * static_cast<double>(observations.size()));
    start_.exchange = rest / static_cast<double>(observations.size());
    start_.compute = half_;
    start_.compute_per_sample = half_ / observations.front().per_device;
  }

  [[nodiscard]] StepModel solve() const {
    constexpr std::array overlaps{1.0, 2.0, 5.0};
    StepModel best;
    double least = 0.0;
    for (const double overlap : overlaps) {
      StepModel start = start_;
      start.overlap = overlap;
      const Corner found =
          lowest([this](const std::vector<double>& point) { return loss(model_at(point)); }, point_of(start));
      if (overlap == overlaps.front() || found.value < least) {
        least = found.value;
        best = model_at(found.at);
      }
      if (!exchanges_) {
        break;
      }
    }
    return best;
  }

 private:
  // What is free, in coordinates without bounds.
  [[nodiscard]] std::vector<double> point_of(const StepModel& model) const {
    std::vector<double> point{portable::log(model.compute_per_sample.value())};
    if (shares_differ_) {
      point.push_back(portable::log(model.compute.value()));
    }
    if (exchanges_) {
      point.push_back(portable::log(model.exchange.value()));
      point.push_back(std::sqrt(model.overlap - 1.0));
    }
    if (further_) {
      point.push_back(0.0);
    }
    return point;
  }

  [[nodiscard]] StepModel model_at(const std::vector<double>& point) const {
    const auto seconds = [](double logarithm) {
      return std::max(Seconds{portable::exp(std::min(logarithm, 50.0))}, shortest_part);
    };
    std::size_t next = 0;
    StepModel model{.compute = half_,
                    .compute_per_sample = seconds(point[next++]),
                    .exchange = {},
                    .exchange_per_device = {},
                    .overlap = 1.0};
    if (shares_differ_) {
      model.compute = seconds(point[next++]);
    }
    if (exchanges_) {
      model.exchange = seconds(point[next++]);
      model.overlap = std::min(1.0 + point[next] * point[next], most_overlap);
      ++next;
    }
    if (further_) {
      model.exchange_per_device = model.exchange * (point[next] * point[next]);
    }
    return model;
  }

  [[nodiscard]] double loss(const StepModel& model) const {
    double of_compute = 0.0;
    double of_step = 0.0;
    for (const StepObservation& one : observations_) {
      const double compute = portable::log(step_time(model, 1, one.per_device) / one.compute);
      const double step = portable::log(step_time(model, one.devices, one.per_device) / one.step);
      of_compute += compute * compute;
      of_step += step * step;
    }
    const double further = exchanges_ ? model.exchange_per_device / model.exchange : 0.0;
    return root_mean_square(of_compute, observations_.size()) + root_mean_square(of_step, observations_.size()) +
           price_of_overlap * (model.overlap - 1.0) * (model.overlap - 1.0) +
           price_of_further_devices * further * further;
  }

  std::span<const StepObservation> observations_;
  bool shares_differ_ = false;
  bool exchanges_ = false;
  bool further_ = false;
  Seconds half_;
  StepModel start_;
};

}  // namespace

StepModel fit_step_model(std::span<const StepObservation> observations) {
  return StepFit{observations}.solve();
}

}  // namespace zeus::research
