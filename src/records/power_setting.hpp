// Inside Zeus, what the public header says of power settings. A plain value; copy it freely between threads.
#pragma once

#include <zeus/power.hpp>

namespace zeus::records {

using zeus::PowerSetting;

}  // namespace zeus::records
