// An energy with its uncertainty: how much, how certain, and how it was found. Plain values; copy them freely between
// threads.
#pragma once

#include <zeus/export.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iosfwd>
#include <optional>

namespace zeus {

enum class EnergyMethod {
  counter,     // the device's own energy counter
  integrated,  // power samples, integrated over time
  estimate,    // a model's result, or readings too sparse to integrate
};

constexpr auto names_of(EnergyMethod /*method*/) {
  return std::array<field::Name<EnergyMethod>, 3>{{{EnergyMethod::counter, "counter"},
                                                   {EnergyMethod::integrated, "integrated"},
                                                   {EnergyMethod::estimate, "estimate"}}};
}

struct Energy {
  Joules value = {};
  Joules uncertainty = {};  // half-width of the 95 % interval that edges and sampling leave
  // Bound of the calibration error, which no repetition removes; unknown for most GPUs.
  std::optional<Joules> systematic = {};
  EnergyMethod method = EnergyMethod::counter;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule number{.unit_in_key = false};
    constexpr field::Rule bound{.least = 0.0, .unit_in_key = false};
    fields("value", self.value, number);
    fields("uncertainty", self.uncertainty, bound);
    fields("systematic", self.systematic, bound);
    fields("method", self.method);
  }
  friend bool operator==(const Energy&, const Energy&) = default;
};

// The sum over devices with independent errors: uncertainties add in squares, calibration bounds add up (and are
// unknown if one is), and the method is the less direct of the two.
inline Energy operator+(const Energy& a, const Energy& b) {
  Energy sum{.value = a.value + b.value,
             .uncertainty = Joules{std::hypot(a.uncertainty.value(), b.uncertainty.value())},
             .systematic = std::nullopt,
             .method = std::max(a.method, b.method)};
  if (a.systematic && b.systematic) {
    sum.systematic = *a.systematic + *b.systematic;
  }
  return sum;
}

// "63.0 ± 0.4 J", in a suitable unit.
ZEUS_API std::ostream& operator<<(std::ostream& stream, const Energy& energy);

}  // namespace zeus
