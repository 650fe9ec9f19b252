#include "daemon/setting.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace zeus::daemon {

AskedFor asked_for(const Setting& setting, GpuAsked gpu) {
  AskedFor asked{.gpu = std::move(gpu)};
  if (const auto* const limit = std::get_if<SetPowerLimit>(&setting)) {
    asked.action = Action::set_power_limit;
    asked.power_limit = limit->limit;
  } else if (const auto* const lock = std::get_if<LockClocks>(&setting)) {
    asked.action = Action::lock_clocks;
    asked.domain = lock->domain;
    asked.clocks = lock->range;
  } else if (std::holds_alternative<UnlockClocks>(setting)) {
    asked.action = Action::lock_clocks;
  } else {
    asked.action = Action::set_persistence;
  }
  return asked;
}

std::string to_text(const Setting& setting) {
  if (const auto* const limit = std::get_if<SetPowerLimit>(&setting)) {
    return fmt::format("power limit {:.6g} W", limit->limit.value());
  }
  if (const auto* const lock = std::get_if<LockClocks>(&setting)) {
    return fmt::format("{} clocks {:.6g} to {:.6g} MHz", to_string(lock->domain), lock->range.minimum.value(),
                       lock->range.maximum.value());
  }
  if (const auto* const unlock = std::get_if<UnlockClocks>(&setting)) {
    return fmt::format("{} clocks unlocked", unlock->domain ? to_string(*unlock->domain) : "all");
  }
  return fmt::format("persistence mode {}", std::get<SetPersistence>(setting).enabled ? "on" : "off");
}

}  // namespace zeus::daemon
