// Everything that zeusd and its clients exchange about devices, for code that talks to a daemon or is one. The rest of
// this module knows of no GPU. Plain values; any thread.
#pragma once

#include "protocol/device_bodies.hpp"    // IWYU pragma: export
#include "protocol/device_leases.hpp"    // IWYU pragma: export
#include "protocol/device_readings.hpp"  // IWYU pragma: export
#include "protocol/discovery.hpp"        // IWYU pragma: export
#include "protocol/wire_values.hpp"      // IWYU pragma: export
