#include "measure/edge.hpp"

#include <algorithm>

namespace zeus::measure {

namespace {

double square(double x) {
  return x * x;
}

Doubt own_shape(const Edge& edge) {
  return edge.settled ? edge.stray.at(edge.fraction) : edge.spread.over(edge.elapsed);
}

Doubt shape_doubt(const Edge& begin, const Edge& end) {
  if (begin.settled && end.settled && begin.tick == end.tick && begin.cell == end.cell) {
    return end.stray.between(begin.fraction, end.fraction);
  }
  if (!begin.settled && !end.settled && begin.tick == end.tick) {
    return end.spread.between(end.elapsed - begin.elapsed);
  }
  return own_shape(begin) + own_shape(end);
}

// A tick came anywhere in its bracket. Where two edges go by the same tick, its error enters once.
Doubt timing_doubt(const Edge& begin, const Edge& end) {
  const auto term = [](Watts weight, Seconds bracket) {
    return Doubt::of(square((weight * bracket).value()) / 12.0, uniform_excess);
  };
  if (begin.tick == end.tick) {
    return term(end.lower_weight - begin.lower_weight, end.lower_bracket) +
           term(end.upper_weight - begin.upper_weight, end.upper_bracket);
  }
  if (begin.settled && begin.tick + 1 == end.tick) {
    return term(begin.lower_weight, begin.lower_bracket) +
           term(end.lower_weight - begin.upper_weight, end.lower_bracket) + term(end.upper_weight, end.upper_bracket);
  }
  return term(begin.lower_weight, begin.lower_bracket) + term(begin.upper_weight, begin.upper_bracket) +
         term(end.lower_weight, end.lower_bracket) + term(end.upper_weight, end.upper_bracket);
}

// What a counter that looks at a part of the time has not seen: as if every change of power were missed by itself, or
// as if the load kept step with the counter and all were missed alike, whichever is more.
Doubt unseen_doubt(const Edge& begin, const Edge& end) {
  if (!end.unseen.suspected) {
    return {};
  }
  const double apart = end.unseen.variance - begin.unseen.variance;
  const double alike = square((end.unseen.alike - begin.unseen.alike).value());
  return Doubt::of(std::max({0.0, apart, alike}) + 2.0 * end.unseen.own_variance, normal_excess);
}

Doubt reading_doubt(const Edge& edge) {
  return Doubt::of(square(edge.resolution.value()) / 12.0 + edge.own_variance, uniform_excess);
}

}  // namespace

EnergyBetween energy_between(const Edge& begin, const Edge& end) {
  const double gathered = std::max(0.0, end.held_variance - begin.held_variance);
  return {.value = end.total - begin.total,
          .doubt = shape_doubt(begin, end) + timing_doubt(begin, end) + reading_doubt(begin) + reading_doubt(end) +
                   unseen_doubt(begin, end) + Doubt::of(gathered, normal_excess)};
}

}  // namespace zeus::measure
