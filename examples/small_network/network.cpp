#include "network.hpp"

#include "draws.hpp"

#include <algorithm>
#include <cmath>

namespace small_network {

namespace {

// e to the power of x, for x at most 0, with IEEE operations alone: the C library's function differs in the last bit
// between versions.
double exponential(double x) {
  constexpr double log2_of_e = 1.4426950408889634;
  constexpr double log_of_2 = 0.6931471805599453;
  if (x < -700.0) {
    return 0.0;
  }
  const double octaves = std::floor(x * log2_of_e + 0.5);
  const double rest = x - octaves * log_of_2;
  double sum = 1.0;
  for (int power = 14; power > 0; --power) {
    sum = 1.0 + sum * rest / power;
  }
  return std::ldexp(sum, static_cast<int>(octaves));
}

}  // namespace

template <typename Real>
struct Network<Real>::Activity {
  std::array<Real, feature_count> features{};            // the largest of each patch, and not below 0
  std::array<std::uint8_t, feature_count> taken_from{};  // which of the patch's four places that was
  std::array<Real, shape_count> probabilities{};
  Real loss = 0;
};

template <typename Real>
Network<Real>::Network(std::uint64_t seed) {
  Draws draws{seed, 0};
  const auto fill = [&](std::size_t from, std::size_t to, double fan_in) {
    const Real scale = static_cast<Real>(std::sqrt(2.0 / fan_in));
    for (std::size_t i = from; i < to; ++i) {
      parameters_[i] = scale * static_cast<Real>(draws.bell());
    }
  };
  fill(0, filter_bias_at, static_cast<double>(filter_side * filter_side));
  fill(weights_at, score_bias_at, 4.0 * static_cast<double>(feature_count));
}

template <typename Real>
auto Network<Real>::run(const Image& image) const -> Activity {
  Activity activity;
  std::array<Real, shape_count> scores{};
  std::copy_n(parameters_.begin() + score_bias_at, shape_count, scores.begin());
  for (std::size_t patch = 0; patch < pooled_side * pooled_side; ++patch) {
    const std::size_t top = patch / pooled_side * 2;
    const std::size_t left = patch % pooled_side * 2;
    std::array<Real, filter_count> largest{};
    std::array<std::uint8_t, filter_count> place{};
    for (std::size_t corner = 0; corner < 4; ++corner) {
      std::array<Real, filter_count> sum{};
      std::copy_n(parameters_.begin() + filter_bias_at, filter_count, sum.begin());
      for (std::size_t tap = 0; tap < filter_side * filter_side; ++tap) {
        const std::size_t row = top + corner / 2 + tap / filter_side;
        const std::size_t column = left + corner % 2 + tap % filter_side;
        const Real light = static_cast<Real>(image.pixels[row * image_side + column]);
        for (std::size_t filter = 0; filter < filter_count; ++filter) {
          sum[filter] += light * parameters_[tap * filter_count + filter];
        }
      }
      for (std::size_t filter = 0; filter < filter_count; ++filter) {
        const bool larger = corner == 0 || sum[filter] > largest[filter];
        largest[filter] = larger ? sum[filter] : largest[filter];
        place[filter] = larger ? static_cast<std::uint8_t>(corner) : place[filter];
      }
    }
    for (std::size_t filter = 0; filter < filter_count; ++filter) {
      const std::size_t feature = patch * filter_count + filter;
      const Real value = std::max(largest[filter], Real{0});
      activity.features[feature] = value;
      activity.taken_from[feature] = place[filter];
      for (std::size_t shape = 0; shape < shape_count; ++shape) {
        scores[shape] += value * parameters_[weights_at + feature * shape_count + shape];
      }
    }
  }
  const Real highest = *std::ranges::max_element(scores);
  Real sum = 0;
  for (std::size_t shape = 0; shape < shape_count; ++shape) {
    activity.probabilities[shape] = static_cast<Real>(exponential(static_cast<double>(scores[shape] - highest)));
    sum += activity.probabilities[shape];
  }
  for (Real& probability : activity.probabilities) {
    probability /= sum;
  }
  activity.loss = std::log(sum) - (scores[image.shape] - highest);
  return activity;
}

template <typename Real>
std::size_t Network<Real>::classify(const Image& image) const {
  const Activity activity = run(image);
  return static_cast<std::size_t>(std::ranges::max_element(activity.probabilities) - activity.probabilities.begin());
}

template <typename Real>
Real Network<Real>::loss(const Image& image) const {
  const Activity activity = run(image);
  return activity.loss;
}

template <typename Real>
Real Network<Real>::add_gradient(const Image& image, Parameters& gradient) const {
  const Activity activity = run(image);
  std::array<Real, shape_count> off = activity.probabilities;  // the derivative with respect to the scores
  off[image.shape] -= Real{1};
  for (std::size_t shape = 0; shape < shape_count; ++shape) {
    gradient[score_bias_at + shape] += off[shape];
  }
  for (std::size_t feature = 0; feature < feature_count; ++feature) {
    const Real value = activity.features[feature];
    if (!(value > Real{0})) {
      continue;
    }
    const std::size_t weights = weights_at + feature * shape_count;
    Real back = 0;
    for (std::size_t shape = 0; shape < shape_count; ++shape) {
      gradient[weights + shape] += value * off[shape];
      back += parameters_[weights + shape] * off[shape];
    }
    const std::size_t filter = feature % filter_count;
    const std::size_t patch = feature / filter_count;
    const std::size_t corner = activity.taken_from[feature];
    const std::size_t top = patch / pooled_side * 2 + corner / 2;
    const std::size_t left = patch % pooled_side * 2 + corner % 2;
    gradient[filter_bias_at + filter] += back;
    for (std::size_t tap = 0; tap < filter_side * filter_side; ++tap) {
      const std::size_t pixel = (top + tap / filter_side) * image_side + left + tap % filter_side;
      gradient[tap * filter_count + filter] += back * static_cast<Real>(image.pixels[pixel]);
    }
  }
  return activity.loss;
}

template class Network<float>;
template class Network<double>;

}  // namespace small_network
