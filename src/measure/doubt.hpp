// The error of a value, described by its variance and fourth cumulant. Both add up if errors are independent, and both
// together give the half-width of the interval that holds 95 of 100 errors. Errors of this module are rarely normal: if
// a time lies in a known bracket, its error is uniform, and the 95 % interval of a uniform error is narrower than 1.96
// standard deviations. Plain values and pure functions.
#pragma once

#include <zeus/units.hpp>

#include <cmath>

namespace zeus::measure {

using JoulesSquared = decltype(Joules{} * Joules{});
using WattsSquared = decltype(Watts{} * Watts{});

constexpr double square(double value) {
  return value * value;
}
template <Dimension D>
constexpr auto square(Quantity<D> value) {
  return value * value;
}
inline Joules root(JoulesSquared value) {
  return Joules{std::sqrt(value.value())};
}

struct Doubt {
  JoulesSquared variance;
  decltype(JoulesSquared{} * JoulesSquared{}) fourth_cumulant;

  // `excess` is the kurtosis of the error minus that of a normal one: 0 for a normal error, -1.2 for a uniform one.
  static Doubt of(JoulesSquared variance, double excess) { return {variance, excess * variance * variance}; }
  // For a value anywhere in a range of this size.
  static Doubt uniform(Joules range);

  Doubt& operator+=(const Doubt& other) {
    variance += other.variance;
    fourth_cumulant += other.fourth_cumulant;
    return *this;
  }
  friend Doubt operator+(Doubt a, const Doubt& b) { return a += b; }

  // That of a symmetric distribution with these cumulants.
  [[nodiscard]] Joules half_width_95() const;
};

constexpr double normal_kurtosis = 3;
constexpr double normal_excess = 0;
constexpr double uniform_excess = -1.2;
constexpr double wave_excess = -0.6;  // for the sum of three uniform errors, two of them weighted

// The half-width of the interval that holds 95 of 100 errors. It always allows for the `common` error. It need not
// reach as far as the `seldom` error, if that occurs rarely enough.
Joules half_width_95(const Doubt& common, const Doubt& seldom);

inline Doubt Doubt::uniform(Joules range) {
  return of(square(range) / 12.0, uniform_excess);
}

}  // namespace zeus::measure
