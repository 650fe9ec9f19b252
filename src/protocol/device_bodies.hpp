// The existing daemon's answers about GPUs and CPU packages, and the events of its streams, in exactly its forms.
// Written by records::json_line() and read by read_answer(). Plain values; any thread.
#pragma once

#include "protocol/wire_values.hpp"

#include <zeus/fields.hpp>

#include <cstdint>
#include <optional>

namespace zeus::protocol {

// Times are the daemon's wall clock, in milliseconds since 1970.

// GET /gpu/get_power
struct GpuPowerAnswer {
  std::uint64_t timestamp_ms = 0;
  ByNumber<WholeMilliwatts> power;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("timestamp_ms", self.timestamp_ms);
    fields("power_mw", self.power);
  }
  friend bool operator==(const GpuPowerAnswer&, const GpuPowerAnswer&) = default;
};

struct GpuEnergy {
  WholeMillijoules energy;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("energy_mj", self.energy);
  }
  friend bool operator==(const GpuEnergy&, const GpuEnergy&) = default;
};
using GpuEnergyAnswer = ByNumber<GpuEnergy>;  // GET /gpu/get_cumulative_energy

struct GpuPowerLimit {
  WholeMilliwatts limit;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("power_limit_mw", self.limit);
  }
  friend bool operator==(const GpuPowerLimit&, const GpuPowerLimit&) = default;
};
using GpuPowerLimitAnswer = ByNumber<GpuPowerLimit>;  // GET /gpu/get_power_limit

struct GpuPowerLimitRange {
  WholeMilliwatts minimum;
  WholeMilliwatts maximum;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("min_power_limit_mw", self.minimum);
    fields("max_power_limit_mw", self.maximum);
  }
  friend bool operator==(const GpuPowerLimitRange&, const GpuPowerLimitRange&) = default;
};
using GpuPowerLimitRangeAnswer = ByNumber<GpuPowerLimitRange>;  // GET /gpu/get_power_limit_constraints

struct GpuPersistenceMode {
  bool enabled = false;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("enabled", self.enabled);
  }
  friend bool operator==(const GpuPersistenceMode&, const GpuPersistenceMode&) = default;
};
using GpuPersistenceModeAnswer = ByNumber<GpuPersistenceMode>;  // GET /gpu/get_persistence_mode

// Each value is null if it was not asked for or does not exist.
struct CpuEnergy {
  std::optional<WholeMicrojoules> package;
  std::optional<WholeMicrojoules> dram;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("cpu_energy_uj", self.package);
    fields("dram_energy_uj", self.dram);
  }
  friend bool operator==(const CpuEnergy&, const CpuEnergy&) = default;
};
using CpuEnergyAnswer = ByNumber<CpuEnergy>;  // GET /cpu/get_cumulative_energy

struct CpuPower {
  WholeMilliwatts package;
  std::optional<WholeMilliwatts> dram;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("cpu_mw", self.package);
    fields("dram_mw", self.dram);
  }
  friend bool operator==(const CpuPower&, const CpuPower&) = default;
};

// GET /cpu/get_power
struct CpuPowerAnswer {
  std::uint64_t timestamp_ms = 0;
  ByNumber<CpuPower> power;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("timestamp_ms", self.timestamp_ms);
    fields("power_mw", self.power);
  }
  friend bool operator==(const CpuPowerAnswer&, const CpuPowerAnswer&) = default;
};

// An event of GET /gpu/stream_power
struct GpuPowerEvent {
  std::uint64_t timestamp_ms = 0;
  std::uint32_t gpu_id = 0;
  WholeMilliwatts power;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("timestamp_ms", self.timestamp_ms);
    fields("gpu_id", self.gpu_id);
    fields("power_mw", self.power);
  }
  friend bool operator==(const GpuPowerEvent&, const GpuPowerEvent&) = default;
};

// An event of GET /cpu/stream_power
struct CpuPowerEvent {
  std::uint64_t timestamp_ms = 0;
  std::uint32_t cpu_id = 0;
  CpuPower power;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("timestamp_ms", self.timestamp_ms);
    fields("cpu_id", self.cpu_id);
    fields("power", self.power, field::beside);
  }
  friend bool operator==(const CpuPowerEvent&, const CpuPowerEvent&) = default;
};

}  // namespace zeus::protocol
