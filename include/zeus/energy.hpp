// An energy that carries its doubt: how much, how sure, and how it was found.
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <optional>

namespace zeus {

enum class EnergyMethod {
  counter,     // the device's own energy counter
  integrated,  // power samples, integrated over time
  estimate,    // a model's word, or readings too sparse to integrate
};

struct Energy {
  Joules value;
  Joules uncertainty;  // half-width of the 95 % interval that edges and sampling leave
  std::optional<Joules>
      systematic;  // bound of the calibration error that no repetition removes; unknown for most cards
  EnergyMethod method = EnergyMethod::counter;
  friend bool operator==(const Energy&, const Energy&) = default;
};

}  // namespace zeus
