#include "serving/estimates.hpp"

#include "base/student_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zeus::serving {

namespace {

constexpr std::size_t fewest_parts = 3;

double student(std::size_t parts) {
  return student_quantile(static_cast<int>(parts) - 1);
}

// Of the sum of parts whose mean is 0 or near it, half the width of its 95 % interval. Neighbours that are alike count
// twice.
double half_width_of_sum(std::span<const double> parts) {
  double squares = 0;
  double neighbours = 0;
  double former = 0;
  for (const double part : parts) {
    squares += part * part;
    neighbours += part * former;
    former = part;
  }
  const auto count = static_cast<double>(parts.size());
  return student(parts.size()) * std::sqrt((squares + 2 * std::max(neighbours, 0.0)) * count / (count - 1));
}

}  // namespace

std::optional<Interval> ratio(std::span<const double> above, std::span<const double> below) {
  const std::size_t parts = above.size();
  const double whole = std::accumulate(below.begin(), below.end(), 0.0);
  if (parts < fewest_parts || whole <= 0) {
    return std::nullopt;
  }
  const double value = std::accumulate(above.begin(), above.end(), 0.0) / whole;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < parts; ++i) {
    residuals.push_back(above[i] - value * below[i]);
  }
  // What lasts longer than a part shows in neighbours alike: then pairs of them scatter more than single ones say.
  double half_width = half_width_of_sum(residuals);
  if (parts >= 2 * fewest_parts) {
    std::vector<double> pairs;
    for (std::size_t i = 0; i + 1 < parts; i += 2) {
      pairs.push_back(residuals[i] + residuals[i + 1]);
    }
    half_width = std::max(half_width, half_width_of_sum(pairs));
  }
  return Interval{.value = value, .half_width = half_width / whole};
}

std::optional<Percentile> percentile(std::span<const PartValue> values, std::size_t parts, double share) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(values.size());
  // The value that this part of all is at or below; nothing beyond both ends.
  const auto at = [&](double part) -> std::optional<double> {
    const double index = std::ceil(part * count) - 1;
    return index < 0 || index >= count ? std::nullopt : std::optional{values[static_cast<std::size_t>(index)].value};
  };
  const double place = share * (count - 1);
  const auto below_place = static_cast<std::size_t>(place);
  const std::size_t above_place = std::min(below_place + 1, values.size() - 1);
  Percentile found{.value = std::lerp(values[below_place].value, values[above_place].value, place - std::floor(place))};
  std::vector<double> below(parts, 0.0);
  std::vector<double> all(parts, 0.0);
  for (const PartValue& one : values) {
    all.at(one.part) += 1;
    below.at(one.part) += one.value <= found.value ? 1 : 0;
  }
  // How far the share of values below this one may be off: as the parts differ, and at least by chance.
  const std::optional<Interval> share_below = ratio(below, all);
  if (!share_below) {
    return found;
  }
  const double by_chance = student(parts) * std::sqrt(share * (1 - share) / count);
  const double off = std::max(share_below->half_width, by_chance);
  found.low = at(share - off);
  found.high = at(share + off);
  return found;
}

}  // namespace zeus::serving
