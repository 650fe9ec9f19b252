// The binary interface of AMD's system management library: return codes, numbers and structures of its version 26 (ROCm
// 7), under names of our own. The back-end calls the library by it, and the virtual driver answers by it. Versions 24
// (ROCm 6.3) and 25 (6.4) agree in what the back-end reads, except for the structures named after them. Facts of the
// vendor's public documentation; static_asserts check the sizes.
#pragma once

#include <cstdint>

namespace zeus::abi::amdsmi {

// What amdsmi_socket_handle and amdsmi_processor_handle point to; clients only pass the handles around.
struct Socket {
  std::uint64_t nothing;
};
struct Processor {
  std::uint64_t nothing;
};

enum class Code : std::uint32_t {
  success = 0,
  invalid_argument = 1,
  not_supported = 2,
  not_yet_implemented = 3,
  timeout = 8,
  no_permission = 10,
  memory = 15,
  out_of_bounds = 17,
  init_error = 18,
  not_found = 31,
  not_initialised = 32,
  driver_not_loaded = 34,
  no_data = 40,
  insufficient_size = 41,
  no_driver = 51,
  restart_failed = 54,
  setting_unavailable = 55,
  unknown = 0xffffffff,
};

enum class ClockType : std::uint32_t { graphics = 0, memory = 4 };

inline constexpr std::uint64_t init_gpus = 2;
inline constexpr std::uint32_t processor_is_gpu = 1;
inline constexpr std::uint32_t level_automatic = 0;
inline constexpr std::uint32_t temperature_hotspot = 1;
inline constexpr std::uint32_t temperature_is_current = 0;
// The values for "not available" in numbers of 16 and of 32 bits.
inline constexpr std::uint32_t not_available_16 = 0xffff;
inline constexpr std::uint32_t not_available_32 = 0xffffffff;

// Version 24 has the year where later versions have the major number, with the same values.
struct Version {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t release;
  const char* build;
};

struct AsicInfo {
  char market_name[256];
  std::uint32_t vendor_id;
  char vendor_name[256];
  std::uint32_t subvendor_id;
  std::uint64_t device_id;
  std::uint32_t revision;
  char serial[256];
  std::uint32_t oam_id;
  std::uint32_t compute_units;
  std::uint64_t graphics_version;
  std::uint32_t subsystem_id;
  std::uint32_t reserved[21];
};
static_assert(sizeof(AsicInfo) == 896);

struct EnumerationInfo {
  std::uint32_t drm_render;
  std::uint32_t drm_card;
  std::uint32_t hsa_id;
  std::uint32_t hip_id;
  char hip_uuid[256];
};
static_assert(sizeof(EnumerationInfo) == 272);

struct KfdInfo {
  std::uint64_t kfd_id;
  std::uint32_t node_id;
  std::uint32_t partition;
  std::uint32_t reserved[12];
};
static_assert(sizeof(KfdInfo) == 64);

struct DriverInfo {
  char version[256];
  char date[256];
  char name[256];
};

// In watts.
struct PowerInfo {
  std::uint64_t socket_power;
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
  std::uint64_t graphics_voltage;
  std::uint64_t soc_voltage;
  std::uint64_t memory_voltage;
  std::uint32_t power_limit;
  std::uint64_t reserved[18];
};
static_assert(sizeof(PowerInfo) == 192);

// The beginning of PowerInfo in version 24.
struct PowerInfo24 {
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
};

// In microwatts.
struct PowerCap {
  std::uint64_t cap;
  std::uint64_t standard;
  std::uint64_t dpm;
  std::uint64_t min;
  std::uint64_t max;
  std::uint64_t reserved[3];
};
static_assert(sizeof(PowerCap) == 64);

// In megahertz.
struct ClockInfo {
  std::uint32_t current;
  std::uint32_t min;
  std::uint32_t max;
  std::uint8_t locked;
  std::uint8_t deep_sleep;
  std::uint32_t reserved[4];
};
static_assert(sizeof(ClockInfo) == 32);

struct Frequencies {
  bool has_deep_sleep;
  std::uint32_t count;
  std::uint32_t current;
  std::uint64_t hertz[33];
};
static_assert(sizeof(Frequencies) == 280);

// In per cent.
struct EngineUsage {
  std::uint32_t graphics;
  std::uint32_t memory;
  std::uint32_t multimedia;
  std::uint32_t reserved[13];
};
static_assert(sizeof(EngineUsage) == 64);

struct VramUsage {
  std::uint32_t total_mb;
  std::uint32_t used_mb;
  std::uint32_t reserved[2];
};

struct Process {
  char name[256];
  std::uint32_t pid;
  std::uint64_t memory;
  std::uint64_t engine_usage[8];
  std::uint64_t memory_usage[8];
  char container[256];
  std::uint32_t occupancy;
  std::uint32_t reserved[11];
};
static_assert(sizeof(Process) == 704);

}  // namespace zeus::abi::amdsmi
