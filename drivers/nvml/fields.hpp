// The readings shared by entry points of their own and field values. Any thread; `gpu` is that of the running call.
#pragma once

#include "abi/nvml/nvml_abi.hpp"
#include "drivers/nvml/call.hpp"

#include <cstdint>

namespace zeus::drivers::nvml {

enum class PowerValueKind { plain, average, instant };
enum class LimitKind { min, max, default_limit, requested, enforced };

// In mJ since the driver was loaded; not_supported without such a counter. Sets the out value only on success.
Code read_energy(const Gpu& gpu, std::uint64_t& millijoules);
// In mW; not_supported without such a sensor.
Code read_power(const Gpu& gpu, PowerValueKind kind, unsigned& milliwatts);
// In mW.
unsigned limit_value(const Gpu& gpu, LimitKind kind);
// How long this policy has held the clock down, in ns.
std::uint64_t violation_ns(const Gpu& gpu, PerformancePolicy policy);

}  // namespace zeus::drivers::nvml
