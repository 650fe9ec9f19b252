// The binary interface of NVIDIA's management library: return codes, numbers and structures, under names of our own.
// The back-end calls the library by it, and the virtual driver answers by it. Facts of the vendor's public
// documentation; static_asserts check the sizes that clients pass and versions encode.
#pragma once

#include <cstdint>

namespace zeus::abi::nvml {

// What an nvmlDevice_t points to; clients only pass the handle around.
struct Device {
  std::uint64_t nothing;
};

enum class Code : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  timeout = 10,
  function_not_found = 13,
  gpu_is_lost = 15,
  reset_required = 16,
  library_mismatch = 18,  // library and kernel module have different versions
  memory = 20,
  argument_version_mismatch = 25,
  deprecated = 26,
  gpu_not_found = 28,
  unknown = 999,
};

enum class ClockType : unsigned { graphics = 0, sm = 1, memory = 2, video = 3 };
enum class ClockId : unsigned { current = 0, application_target = 1, application_default = 2, customer_boost_max = 3 };
enum class SampleType : unsigned {
  power = 0,
  gpu_utilization = 1,
  memory_utilization = 2,
  sm_clock = 5,
  memory_clock = 6
};
enum class ValueType : unsigned { real = 0, uint32 = 1, ulong = 2, uint64 = 3, int64 = 4, int32 = 5, uint16 = 6 };
// The values of `scope` in a field about power.
enum class PowerScope : unsigned { gpu = 0, module = 1, memory = 2 };
enum class TemperatureSensor : unsigned { gpu = 0 };
enum class TemperatureThreshold : unsigned { shutdown = 0, slowdown = 1 };
enum class PerformancePolicy : unsigned {
  power = 0,
  thermal = 1,
  sync_boost = 2,
  board_limit = 3,
  low_utilization = 4,
  reliability = 5,
  application_clocks = 10,
  base_clocks = 11,
};

namespace field {
inline constexpr unsigned policy_power = 74;
inline constexpr unsigned policy_thermal = 75;
inline constexpr unsigned policy_sync_boost = 76;
inline constexpr unsigned policy_base_clocks = 81;
inline constexpr unsigned total_energy = 83;
inline constexpr unsigned power_average = 185;
inline constexpr unsigned power_instant = 186;
inline constexpr unsigned limit_min = 187;
inline constexpr unsigned limit_max = 188;
inline constexpr unsigned limit_default = 189;
inline constexpr unsigned limit_enforced = 190;
inline constexpr unsigned energy = 191;
inline constexpr unsigned limit_requested = 192;
inline constexpr unsigned software_thermal_slowdown = 269;
inline constexpr unsigned hardware_thermal_slowdown = 270;
inline constexpr unsigned hardware_power_brake = 271;
}  // namespace field

namespace reason {
inline constexpr std::uint64_t idle = 0x1;
inline constexpr std::uint64_t application_clocks = 0x2;
inline constexpr std::uint64_t software_power_cap = 0x4;
inline constexpr std::uint64_t software_thermal = 0x20;
}  // namespace reason

inline constexpr unsigned symbolic_clocks_begin = 0xffffff00;
inline constexpr unsigned symbolic_clock_tdp = 0xffffff01;
inline constexpr unsigned symbolic_clock_unlimited = 0xffffff02;
inline constexpr unsigned no_instance = 0xffffffff;     // for a process outside MIG
inline constexpr std::uint64_t no_memory_told = ~0ULL;  // for a process whose memory the driver cannot see

// Enough for every string: names and UUIDs have up to 96 characters, versions up to 80.
inline constexpr unsigned text_length = 96;

// Structures carry their size and a version in one number.
template <typename Struct>
constexpr unsigned versioned(unsigned version) {
  return static_cast<unsigned>(sizeof(Struct)) | version << 24U;
}

union Value {
  double real;
  unsigned uint32;
  unsigned long ulong;
  std::uint64_t uint64;
  std::int64_t int64;
  std::int32_t int32;
  std::uint16_t uint16;
};

struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  std::int64_t timestamp_us = 0;  // since 1970, on the CPU's clock
  std::int64_t latency_us = 0;
  ValueType type = ValueType::real;
  Code result = Code::success;
  Value value{};
};
static_assert(sizeof(FieldValue) == 40);

struct Sample {
  std::uint64_t timestamp_us = 0;
  Value value{};
};
static_assert(sizeof(Sample) == 16);

// In per cent.
struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct Memory {
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};

struct MemoryV2 {
  unsigned version;
  std::uint64_t total;
  std::uint64_t reserved;
  std::uint64_t free;
  std::uint64_t used;
};
static_assert(versioned<MemoryV2>(2) == 0x02000028);

// The older, shorter versions are the same up to their ends.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

// For the first version of the calls.
struct ProcessInfoV1 {
  unsigned pid = 0;
  std::uint64_t used_memory = no_memory_told;
};
static_assert(sizeof(ProcessInfoV1) == 16);

// For the second and third versions.
struct ProcessInfo {
  unsigned pid = 0;
  std::uint64_t used_memory = no_memory_told;
  unsigned gpu_instance = no_instance;
  unsigned compute_instance = no_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

struct ProcessDetail {
  unsigned pid;
  std::uint64_t used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
  std::uint64_t protected_memory;
};

struct ProcessDetailList {
  unsigned version;
  unsigned mode;
  unsigned count;
  ProcessDetail* processes;
};
static_assert(versioned<ProcessDetailList>(1) == 0x01000018);

struct ProcessUtilization {
  unsigned pid;
  std::uint64_t timestamp_us;
  unsigned sm;
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

struct ViolationTime {
  std::uint64_t reference_us;
  std::uint64_t violation_ns;
};

struct Temperature {
  unsigned version = versioned<Temperature>(1);
  TemperatureSensor sensor = TemperatureSensor::gpu;
  int celsius = 0;
};
static_assert(versioned<Temperature>(1) == 0x0100000c);

struct PowerValue {
  unsigned version;
  PowerScope scope;
  unsigned milliwatts;
};
static_assert(versioned<PowerValue>(2) == 0x0200000c);

}  // namespace zeus::abi::nvml
