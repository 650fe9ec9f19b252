// How a cumulative energy counter counts: what is needed to turn two readings of it into an energy. A plain value.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <optional>

namespace zeus::device {

struct EnergyCounter {
  Joules resolution;               // the smallest step that the counter can show
  std::optional<Joules> wraps_at;  // where it starts again at zero; nothing if it lasts a machine's life
  PowerScope scope = PowerScope::gpu;

  friend bool operator==(const EnergyCounter&, const EnergyCounter&) = default;
};

}  // namespace zeus::device
