// AMD's system management library as it looks in memory: the types, numbers and layouts of its binary interface that
// this back-end uses, from its public documentation, for the interface's versions 24 (ROCm 6.3), 25 (6.4) and 26 (7).
// Structures end in room for what newer versions append; only what all versions agree on is named.
#pragma once

#include <cstdint>

namespace zeus::backends::amdsmi::abi {

using Socket = void*;     // amdsmi_socket_handle
using Processor = void*;  // amdsmi_processor_handle

// amdsmi_status_t
using Code = std::uint32_t;
inline constexpr Code success = 0;
inline constexpr Code invalid_argument = 1;
inline constexpr Code not_supported = 2;
inline constexpr Code not_yet_implemented = 3;
inline constexpr Code timeout = 8;
inline constexpr Code no_permission = 10;
inline constexpr Code out_of_bounds = 17;
inline constexpr Code init_error = 18;
inline constexpr Code not_found = 31;
inline constexpr Code not_initialised = 32;
inline constexpr Code driver_not_loaded = 34;
inline constexpr Code no_data = 40;
inline constexpr Code no_driver = 51;
inline constexpr Code restart_failed = 54;
inline constexpr Code setting_unavailable = 55;

inline constexpr std::uint64_t init_gpus = 2;            // AMDSMI_INIT_AMD_GPUS
inline constexpr std::uint32_t processor_gpu = 1;        // AMDSMI_PROCESSOR_TYPE_AMD_GPU
inline constexpr std::uint32_t clock_graphics = 0;       // AMDSMI_CLK_TYPE_GFX
inline constexpr std::uint32_t clock_memory = 4;         // AMDSMI_CLK_TYPE_MEM
inline constexpr std::uint32_t temperature_hotspot = 1;  // AMDSMI_TEMPERATURE_TYPE_HOTSPOT
inline constexpr std::uint32_t temperature_current = 0;  // AMDSMI_TEMP_CURRENT
inline constexpr std::uint32_t level_automatic = 0;      // AMDSMI_DEV_PERF_LEVEL_AUTO

// What stands for "not available" in numbers of 16 and of 32 bits.
inline constexpr std::uint32_t none_16 = 0xFFFF;
inline constexpr std::uint32_t none_32 = 0xFFFFFFFF;

// amdsmi_version_t; version 24 has the year where later ones have the major number, with the same values.
struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t release = 0;
  std::uint32_t more[13] = {};
};

// amdsmi_asic_info_t
struct AsicInfo {
  char market_name[256] = {};
  std::uint32_t vendor_id = 0;
  char vendor_name[256] = {};
  std::uint32_t subvendor_id = 0;
  std::uint64_t device_id = 0;
  std::uint32_t revision_id = 0;
  char serial[256] = {};
  std::uint32_t oam_id = 0;
  std::uint32_t compute_units = 0;
  std::uint32_t more[63] = {};
};

// amdsmi_enumeration_info_t, from version 25 on
struct EnumerationInfo {
  std::uint32_t drm_render = 0;
  std::uint32_t drm_card = 0;
  std::uint32_t hsa_id = 0;
  std::uint32_t hip_id = 0;
  char hip_uuid[256] = {};
  std::uint32_t more[16] = {};
};

// amdsmi_kfd_info_t
struct KfdInfo {
  std::uint64_t kfd_id = 0;
  std::uint32_t node_id = 0;
  std::uint32_t partition = 0;
  std::uint32_t more[28] = {};
};

// amdsmi_driver_info_t: texts of which the version is the first
struct DriverInfo {
  char version[256] = {};
  char more[1024] = {};
};

// amdsmi_power_info_t. Its beginning differs: version 24 has no socket_power.
union PowerInfo {
  struct {
    std::uint32_t current_socket_power;  // watts
    std::uint32_t average_socket_power;
  } version_24;
  struct {
    std::uint64_t socket_power;
    std::uint32_t current_socket_power;
    std::uint32_t average_socket_power;
  } version_25;
  std::uint8_t room[512] = {};
};

// amdsmi_power_cap_info_t, in microwatts
struct PowerCap {
  std::uint64_t cap = 0;
  std::uint64_t standard = 0;
  std::uint64_t dpm = 0;
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
  std::uint64_t more[11] = {};
};

// amdsmi_clk_info_t, in megahertz
struct ClockInfo {
  std::uint32_t current = 0;
  std::uint32_t minimum = 0;
  std::uint32_t maximum = 0;
  std::uint8_t locked = 0;
  std::uint8_t deep_sleep = 0;
  std::uint32_t more[16] = {};
};

// amdsmi_frequencies_t, in hertz
struct Frequencies {
  bool has_deep_sleep = false;
  std::uint32_t count = 0;
  std::uint32_t current = 0;
  std::uint64_t hertz[33] = {};
  std::uint64_t more[16] = {};
};

// amdsmi_engine_usage_t, in per cent
struct EngineUsage {
  std::uint32_t graphics = 0;
  std::uint32_t memory = 0;
  std::uint32_t multimedia = 0;
  std::uint32_t more[29] = {};
};

// amdsmi_proc_info_t: an array of these is filled, so its length is exact.
struct Process {
  char name[256] = {};
  std::uint32_t pid = 0;
  std::uint64_t memory = 0;
  std::uint64_t engine_usage[8] = {};
  std::uint64_t memory_usage[8] = {};
  char container[256] = {};
  std::uint32_t occupancy = 0;
  std::uint32_t reserved[11] = {};
};
static_assert(sizeof(Process) == 704);

}  // namespace zeus::backends::amdsmi::abi
