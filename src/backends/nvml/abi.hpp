// NVIDIA's management library as it looks in memory: the types, numbers and layouts of its binary interface that this
// back-end uses, from its public documentation. Every name says which of the library's it stands for.
#pragma once

#include <cstdint>

namespace zeus::backends::nvml::abi {

using Device = void*;  // nvmlDevice_t

// nvmlReturn_t
using Code = int;
inline constexpr Code success = 0;
inline constexpr Code uninitialized = 1;
inline constexpr Code invalid_argument = 2;
inline constexpr Code not_supported = 3;
inline constexpr Code no_permission = 4;
inline constexpr Code not_found = 6;
inline constexpr Code insufficient_size = 7;
inline constexpr Code driver_not_loaded = 9;
inline constexpr Code timeout = 10;
inline constexpr Code function_not_found = 13;
inline constexpr Code gpu_is_lost = 15;
inline constexpr Code reset_required = 16;
inline constexpr Code library_mismatch = 18;
inline constexpr Code argument_version_mismatch = 25;
inline constexpr Code deprecated = 26;
inline constexpr Code gpu_not_found = 28;

// nvmlClockType_t
inline constexpr int clock_graphics = 0;
inline constexpr int clock_sm = 1;
inline constexpr int clock_memory = 2;

inline constexpr int temperature_gpu = 0;      // nvmlTemperatureSensors_t
inline constexpr int total_power_samples = 0;  // nvmlSamplingType_t

// Field identifiers (NVML_FI_DEV_...), and what their scopeId may be.
inline constexpr std::uint32_t field_perf_policy_power = 74;
inline constexpr std::uint32_t field_perf_policy_sync_boost = 76;
inline constexpr std::uint32_t field_total_energy = 83;
inline constexpr std::uint32_t field_power_average = 185;
inline constexpr std::uint32_t field_power_instant = 186;
inline constexpr std::uint32_t field_energy = 191;
inline constexpr std::uint32_t field_software_thermal = 269;
inline constexpr std::uint32_t field_hardware_thermal = 270;
inline constexpr std::uint32_t field_power_brake = 271;
inline constexpr std::uint32_t scope_gpu = 0;
inline constexpr std::uint32_t scope_module = 1;
inline constexpr std::uint32_t scope_memory = 2;

// nvmlValueType_t
enum class ValueType : std::int32_t {
  floating = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
  unsigned_short = 6,
};

// nvmlValue_t
union Value {
  double floating;
  std::uint32_t unsigned_int;
  unsigned long unsigned_long;
  std::uint64_t unsigned_long_long;
  std::int64_t signed_long_long;
  std::int32_t signed_int;
  std::uint16_t unsigned_short;
};

// nvmlFieldValue_t
struct FieldValue {
  std::uint32_t field = 0;
  std::uint32_t scope = 0;
  std::int64_t timestamp_microseconds = 0;  // since 1970, on the CPU's clock
  std::int64_t latency_microseconds = 0;
  ValueType type = ValueType::floating;
  Code code = success;
  Value value{};
};
static_assert(sizeof(FieldValue) == 40);

// nvmlSample_t
struct Sample {
  std::uint64_t timestamp_microseconds = 0;
  Value value{};
};
static_assert(sizeof(Sample) == 16);

// nvmlPciInfo_t; the older and shorter versions agree in what is used here.
struct PciInfo {
  char bus_id_legacy[16];
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;
  std::uint32_t subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

// nvmlUtilization_t, in per cent
struct Utilization {
  std::uint32_t gpu = 0;
  std::uint32_t memory = 0;
};

// nvmlTemperature_t, version 1
struct Temperature {
  std::uint32_t version = 0x0100000C;
  std::int32_t sensor = temperature_gpu;
  std::int32_t celsius = 0;
};
static_assert(sizeof(Temperature) == 12);

inline constexpr std::uint64_t not_available = ~0ULL;      // NVML_VALUE_NOT_AVAILABLE
inline constexpr std::uint32_t no_instance = 0xFFFFFFFFU;  // of a process outside of MIG

// nvmlProcessInfo_t as the second and third versions of the call fill it
struct Process {
  std::uint32_t pid = 0;
  std::uint64_t used_memory = not_available;
  std::uint32_t gpu_instance = no_instance;
  std::uint32_t compute_instance = no_instance;
};
static_assert(sizeof(Process) == 24);

// nvmlProcessInfo_v1_t, of the first version of the call
struct OldProcess {
  std::uint32_t pid = 0;
  std::uint64_t used_memory = not_available;
};
static_assert(sizeof(OldProcess) == 16);

// Suffices for every text: names and UUIDs take up to 96 characters, versions up to 80.
inline constexpr unsigned text_length = 96;

}  // namespace zeus::backends::nvml::abi
