// How far a value may be off: the variance and the fourth cumulant of its error, which both simply add where errors are
// independent, and from them the half-width of the interval that holds 95 of 100. Errors of this module are seldom
// normal: a time that is known to lie in a bracket is off by a uniform error, whose 95 % interval is narrower than 1.96
// standard deviations. Plain values and pure functions.
#pragma once

#include <zeus/units.hpp>

namespace zeus::measure {

struct Doubt {
  double variance = 0;         // J^2
  double fourth_cumulant = 0;  // J^4

  // `excess` is the kurtosis of the error beyond that of a normal one: 0 for that, -1.2 for a uniform one.
  static Doubt of(double variance, double excess) { return {variance, excess * variance * variance}; }

  Doubt& operator+=(const Doubt& other) {
    variance += other.variance;
    fourth_cumulant += other.fourth_cumulant;
    return *this;
  }
  friend Doubt operator+(Doubt a, const Doubt& b) { return a += b; }

  // As of a symmetric distribution that has these cumulants.
  [[nodiscard]] Joules half_width_95() const;
};

constexpr double normal_excess = 0;
constexpr double uniform_excess = -1.2;
constexpr double wave_excess = -0.6;  // of what three uniform errors make together, two of them shared out

}  // namespace zeus::measure
