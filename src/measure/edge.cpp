#include "measure/edge.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

double square(double x) {
  return x * x;
}

// A path pinned at both ticks and free between them: covariance of its deviations at two places.
double bridge(double u, double v) {
  return 4.0 * std::min(u, v) * (1.0 - std::max(u, v));
}

double own_variance(const Edge& edge) {
  if (!edge.settled) {
    return square((edge.power_doubt * edge.elapsed).value()) + square(edge.stray.value());
  }
  return square(edge.stray.value()) * bridge(edge.fraction, edge.fraction);
}

double shape_variance(const Edge& begin, const Edge& end) {
  if (begin.tick != end.tick) {
    return own_variance(begin) + own_variance(end);
  }
  if (!begin.settled && !end.settled) {
    return square((end.power_doubt * (end.elapsed - begin.elapsed)).value()) + 2.0 * square(end.stray.value());
  }
  if (begin.settled && end.settled) {
    const double stray = std::max(begin.stray.value(), end.stray.value());
    return square(stray) * std::max(0.0, bridge(begin.fraction, begin.fraction) + bridge(end.fraction, end.fraction) -
                                             2.0 * bridge(begin.fraction, end.fraction));
  }
  return own_variance(begin) + own_variance(end);
}

// One tick's time enters both edges where they share it.
double timing_variance(const Edge& begin, const Edge& end) {
  const auto term = [](Watts weight, Seconds doubt) { return square((weight * doubt).value()); };
  if (begin.tick == end.tick) {
    return term(end.lower_weight - begin.lower_weight, end.lower_doubt) +
           term(end.upper_weight - begin.upper_weight, end.upper_doubt);
  }
  if (begin.settled && begin.tick + 1 == end.tick) {
    return term(begin.lower_weight, begin.lower_doubt) + term(end.lower_weight - begin.upper_weight, end.lower_doubt) +
           term(end.upper_weight, end.upper_doubt);
  }
  return term(begin.lower_weight, begin.lower_doubt) + term(begin.upper_weight, begin.upper_doubt) +
         term(end.lower_weight, end.lower_doubt) + term(end.upper_weight, end.upper_doubt);
}

}  // namespace

EnergyBetween energy_between(const Edge& begin, const Edge& end) {
  const double gathered = std::max(0.0, end.held_variance - begin.held_variance);
  return {end.total - begin.total,
          Joules{std::sqrt(shape_variance(begin, end) + timing_variance(begin, end) + gathered)}};
}

}  // namespace zeus::measure
