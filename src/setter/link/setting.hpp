// One change of a GPU's settings, and its result. Plain values; any thread.
#pragma once

#include <zeus/device_values.hpp>
#include <zeus/error.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <variant>

namespace zeus::setter {

struct SetPowerLimit {
  Watts limit;
};
struct LockClocks {
  ClockDomain domain = ClockDomain::graphics;
  ClockRange range;
};
struct UnlockClocks {
  std::optional<ClockDomain> domain;  // empty: every domain
};
struct SetPersistence {
  bool enabled = false;
};
using Setting = std::variant<SetPowerLimit, LockClocks, UnlockClocks, SetPersistence>;

// The result on one GPU.
struct SettingResult {
  Reading<Watts> enforced;                       // for a power limit
  Reading<std::optional<ClockRange>> locked_to;  // for locked clocks
  Reading<Megahertz> running;
  Reading<bool> persistence;
  std::optional<Error> error;
  bool is_over = false;  // `error` is a timeout because the lease has expired, not because the driver is slow
};

}  // namespace zeus::setter
