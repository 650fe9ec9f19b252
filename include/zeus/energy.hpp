// An energy with its uncertainty: how much, how certain, and how it was found. Plain values; copy them freely between
// threads.
#pragma once

#include <zeus/export.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
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
  // The parts of the uncertainty, relative to it: of the error that this energy has alone, and of the error that it has
  // in common with other devices in the same window, because they were read together or work in step. If only the
  // uncertainty is known, as of an energy from a file, all of it may be shared.
  double own = 0.0;
  double shared = 1.0;

  // The uncertainty from its two parts, as half-widths.
  ZEUS_API void set_uncertainty(Joules of_own, Joules of_shared);

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    constexpr field::Rule bound = field::without_unit(field::energy);
    fields("value", self.value, field::without_unit(field::any_energy));
    fields("uncertainty", self.uncertainty, bound);
    fields("systematic", self.systematic, bound);
    fields("method", self.method);
  }
  friend bool operator==(const Energy&, const Energy&) = default;
};

// The sum over devices in one window: what each has alone of its uncertainty adds in squares, and what they share adds
// up. So do calibration bounds (unknown if one is); the method is the less direct of the two.
ZEUS_API Energy operator+(const Energy& a, const Energy& b);

// The sum over windows, one after the other, which share nothing: both parts of the uncertainty add in squares.
ZEUS_API Energy in_turn(const Energy& a, const Energy& b);

// "63.0 ± 0.4 J", in a suitable unit.
ZEUS_API std::ostream& operator<<(std::ostream& stream, const Energy& energy);

}  // namespace zeus
