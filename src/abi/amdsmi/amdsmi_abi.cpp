// Checks the layout of every structure against the vendor's own Python package (amdsmi 7.0.2).
#include "abi/amdsmi/amdsmi_abi.hpp"

#include <cstddef>

namespace zeus::abi::amdsmi {

static_assert(offsetof(Version, minor) == 4 && offsetof(Version, release) == 8 && offsetof(Version, build) == 16);
static_assert(offsetof(AsicInfo, vendor_id) == 256 && offsetof(AsicInfo, vendor_name) == 260 &&
              offsetof(AsicInfo, subvendor_id) == 516 && offsetof(AsicInfo, device_id) == 520 &&
              offsetof(AsicInfo, revision) == 528 && offsetof(AsicInfo, serial) == 532 &&
              offsetof(AsicInfo, oam_id) == 788 && offsetof(AsicInfo, compute_units) == 792 &&
              offsetof(AsicInfo, graphics_version) == 800 && offsetof(AsicInfo, subsystem_id) == 808);
static_assert(offsetof(EnumerationInfo, drm_card) == 4 && offsetof(EnumerationInfo, hsa_id) == 8 &&
              offsetof(EnumerationInfo, hip_id) == 12 && offsetof(EnumerationInfo, hip_uuid) == 16);
static_assert(offsetof(KfdInfo, node_id) == 8 && offsetof(KfdInfo, partition) == 12);
static_assert(offsetof(DriverInfo, date) == 256 && offsetof(DriverInfo, name) == 512);
static_assert(offsetof(PowerInfo, current_socket_power) == 8 && offsetof(PowerInfo, average_socket_power) == 12 &&
              offsetof(PowerInfo, graphics_voltage) == 16 && offsetof(PowerInfo, soc_voltage) == 24 &&
              offsetof(PowerInfo, memory_voltage) == 32 && offsetof(PowerInfo, power_limit) == 40);
static_assert(offsetof(PowerCap, standard) == 8 && offsetof(PowerCap, dpm) == 16 && offsetof(PowerCap, min) == 24 &&
              offsetof(PowerCap, max) == 32);
static_assert(offsetof(ClockInfo, min) == 4 && offsetof(ClockInfo, max) == 8 && offsetof(ClockInfo, locked) == 12 &&
              offsetof(ClockInfo, deep_sleep) == 13);
static_assert(offsetof(Frequencies, count) == 4 && offsetof(Frequencies, current) == 8 &&
              offsetof(Frequencies, hertz) == 16);
static_assert(offsetof(EngineUsage, memory) == 4 && offsetof(EngineUsage, multimedia) == 8);
static_assert(offsetof(VramUsage, used_mb) == 4);
static_assert(offsetof(Process, pid) == 256 && offsetof(Process, memory) == 264 &&
              offsetof(Process, engine_usage) == 272 && offsetof(Process, memory_usage) == 336 &&
              offsetof(Process, container) == 400 && offsetof(Process, occupancy) == 656);

}  // namespace zeus::abi::amdsmi
