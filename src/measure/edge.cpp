#include "measure/edge.hpp"

#include <algorithm>

namespace zeus::measure {

namespace {

double square(double x) {
  return x * x;
}

Doubt own_shape(const Edge& edge) {
  return edge.settled ? edge.deviation.at(edge.fraction) : edge.spread.over(edge.elapsed);
}

Doubt shape_doubt(const Edge& begin, const Edge& end) {
  if (begin.settled && end.settled && begin.tick == end.tick && begin.cell == end.cell) {
    return end.deviation.between(begin.fraction, end.fraction);
  }
  if (!begin.settled && !end.settled && begin.tick == end.tick) {
    return end.spread.between(end.elapsed - begin.elapsed);
  }
  Doubt both = own_shape(begin) + own_shape(end);
  if (begin.settled && !end.settled && begin.tick + 1 == end.tick && end.at - begin.at < end.spread.tick) {
    both += Doubt::of(end.spread.wave, wave_excess);  // as between two predictions of one tick
  }
  return both;
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

// What a counter that looks at a part of the time has not seen. Each change of power is put in the middle of the time
// unseen, of which the sums over ups and downs leave the difference of the window's ends; where it came varies from
// change to change, but from cycle to cycle it is the same if the load keeps step with the counter.
Doubt unseen_doubt(const Edge& begin, const Edge& end) {
  if (!end.unseen.suspected || end.tick < begin.tick) {
    return {};
  }
  const double apart = std::max(0.0, end.unseen.variance - begin.unseen.variance);
  const double cycles = static_cast<double>(end.tick - begin.tick) / std::max(1.0, end.unseen.cycle);
  const double between = begin.unseen.suspected ? square((end.unseen.level - begin.unseen.level).value()) / 4.0 : 0.0;
  return Doubt::of(apart * std::max(1.0, cycles) + between + 2.0 * end.unseen.own_variance, normal_excess);
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
