// Settings as the policy and people see them. Plain values; any thread.
#pragma once

#include "daemon/policy.hpp"
#include "setter/link/setting.hpp"

#include <string>

namespace zeus::daemon {

using setter::LockClocks;
using setter::SetPersistence;
using setter::SetPowerLimit;
using setter::Setting;
using setter::SettingResult;
using setter::UnlockClocks;

// The question to the policy's rules.
AskedFor asked_for(const Setting& setting, GpuAsked gpu);

// "power limit 200 W", "graphics clocks 210 to 1410 MHz", "memory clocks unlocked", "persistence mode on".
std::string to_text(const Setting& setting);

}  // namespace zeus::daemon
