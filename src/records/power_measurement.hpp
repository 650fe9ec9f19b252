// Brings the public type of a step under a power setting into this namespace. A plain value; copy it freely between
// threads.
#pragma once

#include "records/energy.hpp"
#include "records/power_setting.hpp"

#include <zeus/power.hpp>

namespace zeus::records {

using zeus::PowerMeasurement;

}  // namespace zeus::records
