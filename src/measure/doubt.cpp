#include "measure/doubt.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zeus::measure {

namespace {

struct Quantile {
  double excess;      // kurtosis beyond that of a normal distribution
  double deviations;  // that hold 95 of 100
};

// Below 0: the symmetric beta distributions, from two points through the uniform one to the normal one. Above: an error
// that is 0 most of the time and uniform otherwise, as of a load that seldom steps.
constexpr std::array<Quantile, 20> quantiles{
    {{-2.0, 1.0},    {-1.8, 1.1547}, {-1.6, 1.3223}, {-1.4, 1.4955}, {-1.2, 1.6454}, {-1.0, 1.7567}, {-0.8, 1.8333},
     {-0.6, 1.8848}, {-0.4, 1.9196}, {-0.2, 1.9435}, {0.0, 1.96},    {1.0, 2.295},   {2.0, 2.486},   {3.0, 2.635},
     {4.0, 2.752},   {6.0, 2.905},   {8.0, 2.974},   {10.0, 2.974},  {12.0, 2.917},  {15.0, 2.739}}};

constexpr double normal_95 = 1.96;
constexpr double share_of_quantiles = 0.1;  // the table's last line

}  // namespace

Joules Doubt::half_width_95() const {
  if (variance <= JoulesSquared{0}) {
    return Joules{0};
  }
  const double excess =
      std::clamp(fourth_cumulant / (variance * variance), quantiles.front().excess, quantiles.back().excess);
  const auto* right = std::ranges::upper_bound(quantiles, excess, {}, &Quantile::excess);
  right = std::min(right, &quantiles.back());
  const auto* const left = right - 1;
  const double part = (excess - left->excess) / (right->excess - left->excess);
  return root(variance) * (left->deviations + (right->deviations - left->deviations) * part);
}

Joules half_width_95(const Doubt& common, const Doubt& seldom) {
  const Joules together = (common + seldom).half_width_95();
  if (seldom.variance <= JoulesSquared{0}) {
    return together;
  }
  // 0 most of the time, and uniform in this share of the cases.
  const double excess = seldom.fourth_cumulant / square(seldom.variance);
  const double share = (uniform_excess + normal_kurtosis) / (excess + normal_kurtosis);
  if (share >= share_of_quantiles) {
    return together;
  }
  const Joules reach = root(seldom.variance * (3.0 / share));
  const Joules deviation = common.half_width_95() / normal_95;
  const auto holds = [&](Joules half_width) {
    const double of_common = deviation > Joules{0} ? std::erf(half_width / deviation / std::sqrt(2.0)) : 1.0;
    return (1.0 - share) * of_common + share * std::min(1.0, half_width / reach);
  };
  Joules least;
  Joules most = together;
  for (int halving = 0; halving < 12; ++halving) {
    const Joules middle = (least + most) * 0.5;
    (holds(middle) < 0.95 ? least : most) = middle;
  }
  return most;
}

}  // namespace zeus::measure
