// Brings the public type of power settings into this namespace. A plain value; copy it freely between threads.
#pragma once

#include <zeus/power.hpp>

namespace zeus::records {

using zeus::PowerSetting;

}  // namespace zeus::records
