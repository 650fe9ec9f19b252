// What a GPU can be told in order to save energy: a power limit, and perhaps a locked clock under it.
// A plain value; copy it freely between threads.
#pragma once

#include <zeus/units.hpp>

#include <optional>

namespace zeus::records {

struct PowerSetting {
  Watts limit;
  std::optional<Megahertz> clock;  // the highest one the GPU may use; nothing when clocks are left to the driver

  friend bool operator==(const PowerSetting&, const PowerSetting&) = default;
};

}  // namespace zeus::records
