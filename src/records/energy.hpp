// An energy that carries its doubt: how much, how sure, and how it was found.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::records {

enum class EnergyMethod {
  counter,     // the device's own energy counter
  integrated,  // power samples, integrated over time
  estimate,    // a model's word, or readings too sparse to integrate
};

std::string_view to_string(EnergyMethod method);
std::optional<EnergyMethod> energy_method_from(std::string_view text);

struct Energy {
  Joules value;
  Joules uncertainty;  // half-width of the 95 % interval that edges and sampling leave
  std::optional<Joules>
      systematic;  // bound of the calibration error that no repetition removes; unknown for most cards
  EnergyMethod method = EnergyMethod::counter;
  friend bool operator==(const Energy&, const Energy&) = default;
};

// The sum over devices whose errors are independent: uncertainties add in squares, calibration bounds add up (and are
// unknown when one is), and the method is the least direct of the two.
Energy operator+(const Energy& a, const Energy& b);

// The form that docs/cli.md promises: {"value":..,"uncertainty":..,"systematic":..,"method":..}, on one line.
std::string to_json(const Energy& energy);
// Reads that form back; anything else (a missing key, a wrong type, a negative or non-finite uncertainty) is a
// corrupt_data Error.
Energy energy_from_json(std::string_view text);

}  // namespace zeus::records
