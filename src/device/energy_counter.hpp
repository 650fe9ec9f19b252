// How a cumulative energy counter counts, which is what turns two of its readings into an energy. A plain value.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::device {

struct EnergyCounter {
  Joules resolution;               // the least step the counter can show
  std::optional<Joules> wraps_at;  // where it starts again at zero; nothing when it does not in a machine's life
  PowerScope scope = PowerScope::gpu;

  friend bool operator==(const EnergyCounter&, const EnergyCounter&) = default;
};

}  // namespace zeus::device
