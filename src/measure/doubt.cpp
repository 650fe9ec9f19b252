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

// Below 0: the symmetric beta distributions, from two points by the uniform one to the normal one. Above: an error that
// is 0 mostly and uniform at times, as of a load that seldom steps.
constexpr std::array<Quantile, 20> quantiles{
    {{-2.0, 1.0},    {-1.8, 1.1547}, {-1.6, 1.3223}, {-1.4, 1.4955}, {-1.2, 1.6454}, {-1.0, 1.7567}, {-0.8, 1.8333},
     {-0.6, 1.8848}, {-0.4, 1.9196}, {-0.2, 1.9435}, {0.0, 1.96},    {1.0, 2.295},   {2.0, 2.486},   {3.0, 2.635},
     {4.0, 2.752},   {6.0, 2.905},   {8.0, 2.974},   {10.0, 2.974},  {12.0, 2.917},  {15.0, 2.739}}};

}  // namespace

Joules Doubt::half_width_95() const {
  if (variance <= 0) {
    return Joules{0};
  }
  const double excess =
      std::clamp(fourth_cumulant / (variance * variance), quantiles.front().excess, quantiles.back().excess);
  const auto* right = std::ranges::upper_bound(quantiles, excess, {}, &Quantile::excess);
  right = std::min(right, &quantiles.back());
  const auto* const left = right - 1;
  const double part = (excess - left->excess) / (right->excess - left->excess);
  return Joules{std::sqrt(variance) * (left->deviations + (right->deviations - left->deviations) * part)};
}

}  // namespace zeus::measure
