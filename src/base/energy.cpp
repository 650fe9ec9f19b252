#include <zeus/energy.hpp>

#include "base/amount_text.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace zeus {

namespace {

Joules in_squares(Joules a, Joules b) {
  return Joules{std::hypot(a.value(), b.value())};
}

Energy without_uncertainty(const Energy& a, const Energy& b) {
  Energy sum{.value = a.value + b.value, .systematic = std::nullopt, .method = std::max(a.method, b.method)};
  if (a.systematic && b.systematic) {
    sum.systematic = *a.systematic + *b.systematic;
  }
  return sum;
}

}  // namespace

void Energy::set_uncertainty(Joules of_own, Joules of_shared) {
  uncertainty = in_squares(of_own, of_shared);
  own = uncertainty > Joules{0} ? of_own / uncertainty : 0.0;
  shared = uncertainty > Joules{0} ? of_shared / uncertainty : 1.0;
}

Energy operator+(const Energy& a, const Energy& b) {
  Energy sum = without_uncertainty(a, b);
  sum.set_uncertainty(in_squares(a.uncertainty * a.own, b.uncertainty * b.own),
                      a.uncertainty * a.shared + b.uncertainty * b.shared);
  return sum;
}

Energy in_turn(const Energy& a, const Energy& b) {
  Energy sum = without_uncertainty(a, b);
  sum.set_uncertainty(in_squares(a.uncertainty * a.own, b.uncertainty * b.own),
                      in_squares(a.uncertainty * a.shared, b.uncertainty * b.shared));
  return sum;
}

std::ostream& operator<<(std::ostream& stream, const Energy& energy) {
  return stream << to_text(energy.value, energy.uncertainty);
}

}  // namespace zeus
