// All readings of a node's GPUs and CPU packages, in one answer of our own (/v1/readings): each with its time, or with
// the reason why there is none. Written by records::json_line() and read by read_answer(). Plain values; any thread.
#pragma once

#include "base/clock.hpp"
#include "device/cpu_package.hpp"
#include "device/gpu.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/device_values.hpp>
#include <zeus/fields.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::protocol {

// When something was read, or was tried: on the daemon's monotonic clock, as device::Stamped has it.
struct Moment {
  Instant at = {};
  Seconds latency = {};

  friend bool operator==(const Moment&, const Moment&) = default;
};

// {"value_w":212.5,"at_ns":..,"latency_s":..} or {"value_w":null,"at_ns":..,"latency_s":..,"reason":"permission",
// "detail":".."}
template <typename Value>
struct ReportedReading {
  std::optional<Value> value = std::nullopt;
  Instant at = {};
  Seconds latency = {};
  std::optional<Reason> reason = std::nullopt;  // if there is no value; empty for an unknown reason
  std::optional<std::string> detail = std::nullopt;

  ReportedReading() = default;
  ReportedReading(const Reading<device::Stamped<Value>>& reading, Moment tried)
      : ReportedReading{reading.transform([](const auto& stamped) { return stamped.value; }),
                        reading ? Moment{.at = reading->at, .latency = reading->latency} : tried} {}
  ReportedReading(const Reading<Value>& reading, Moment moment)
      : value{reading.optional()}, at{moment.at}, latency{moment.latency} {
    if (!reading) {
      const Failure failure = reading.failure();
      reason = failure.reason;
      if (!failure.detail.empty()) {
        detail = failure.detail;
      }
    }
  }

  // `kept_detail` is the reading's detail: the string of `detail` at a place that outlives it, or another string.
  [[nodiscard]] Reading<Value> reading(std::string_view kept_detail = {}) const {
    return value ? Reading<Value>{*value} : Reading<Value>{Failure{reason.value_or(Reason::unknown), kept_detail}};
  }
  [[nodiscard]] Reading<device::Stamped<Value>> stamped(std::string_view kept_detail = {}) const {
    return reading(kept_detail).transform([this](const Value& its_value) {
      return device::Stamped<Value>{.value = its_value, .at = at, .latency = latency};
    });
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("value", self.value);
    fields("at_ns", self.at.nanoseconds);
    fields("latency", self.latency, field::from_zero);
    fields("reason", self.reason, field::Rule{.left_out = true});
    fields("detail", self.detail, field::Rule{.left_out = true});
  }
  friend bool operator==(const ReportedReading&, const ReportedReading&) = default;
};

// device::EnergyCounter
struct ReportedCounter {
  Joules resolution = {};
  std::optional<Joules> wraps_at = std::nullopt;
  PowerScope scope = PowerScope::gpu;

  ReportedCounter() = default;
  explicit ReportedCounter(const device::EnergyCounter& counter)
      : resolution{counter.resolution}, wraps_at{counter.wraps_at}, scope{counter.scope} {}
  [[nodiscard]] device::EnergyCounter counter() const {
    return {.resolution = resolution, .wraps_at = wraps_at, .scope = scope};
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("resolution", self.resolution, field::from_zero);
    fields("wraps_at", self.wraps_at, field::above_zero);
    fields("scope", self.scope);
  }
  friend bool operator==(const ReportedCounter&, const ReportedCounter&) = default;
};

struct ReportedPower {
  PowerKind kind = PowerKind::instant;
  PowerScope scope = PowerScope::gpu;
  ReportedReading<Watts> power = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("kind", self.kind);
    fields("scope", self.scope);
    fields("power", self.power, field::beside);
  }
  friend bool operator==(const ReportedPower&, const ReportedPower&) = default;
};

// zeus::PowerLimits
struct ReportedLimits {
  ReportedReading<Watts> current = {};
  ReportedReading<Watts> standard = {};
  ReportedReading<Watts> minimum = {};
  ReportedReading<Watts> maximum = {};
  ReportedReading<Watts> enforced = {};

  ReportedLimits() = default;
  ReportedLimits(const PowerLimits& limits, Moment moment);
  [[nodiscard]] PowerLimits limits() const;  // without the details of missing values

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("current", self.current);
    fields("standard", self.standard);
    fields("minimum", self.minimum);
    fields("maximum", self.maximum);
    fields("enforced", self.enforced);
  }
  friend bool operator==(const ReportedLimits&, const ReportedLimits&) = default;
};

// device::Clocks
struct ReportedClocks {
  ReportedReading<Megahertz> graphics = {};
  ReportedReading<Megahertz> sm = {};
  ReportedReading<Megahertz> memory = {};
  ReportedReading<Megahertz> maximum_graphics = {};
  ReportedReading<Megahertz> maximum_memory = {};

  ReportedClocks() = default;
  ReportedClocks(const device::Clocks& clocks, Moment moment);
  [[nodiscard]] device::Clocks clocks() const;  // without the details of missing values

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("graphics", self.graphics);
    fields("sm", self.sm);
    fields("memory", self.memory);
    fields("maximum_graphics", self.maximum_graphics);
    fields("maximum_memory", self.maximum_memory);
  }
  friend bool operator==(const ReportedClocks&, const ReportedClocks&) = default;
};

// The answer of Gpu::locked_clocks() for a domain: a value without a range if it is not locked.
struct LockState {
  std::optional<ClockRange> range = std::nullopt;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("range", self.range);
  }
  friend bool operator==(const LockState&, const LockState&) = default;
};

struct ReportedLock {
  ClockDomain domain = ClockDomain::graphics;
  ReportedReading<LockState> state = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("domain", self.domain);
    fields("state", self.state);
  }
  friend bool operator==(const ReportedLock&, const ReportedLock&) = default;
};

// The graphics clocks that go with a memory clock, highest first.
struct SupportedClocks {
  Megahertz memory = {};
  std::vector<Megahertz> graphics = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("memory", self.memory, field::from_zero);
    fields("graphics", self.graphics, field::from_zero);
  }
  friend bool operator==(const SupportedClocks&, const SupportedClocks&) = default;
};

struct ReportedUtilization {
  double gpu = 0.0;
  double memory = 0.0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpu", self.gpu, field::share);
    fields("memory", self.memory, field::share);
  }
  friend bool operator==(const ReportedUtilization&, const ReportedUtilization&) = default;
};

// "power_cap", "software_thermal"
std::vector<std::string> words_of(ThrottleReasons reasons);

// ["power_cap","software_thermal"]. Unknown words are ignored.
struct ReportedThrottle {
  ThrottleReasons reasons = {};

  friend void write_json(records::JsonWriter& json, const ReportedThrottle& throttle);
  friend void read_json(const records::JsonValue& json, const records::JsonPlace& place, ReportedThrottle& throttle);
  friend bool operator==(const ReportedThrottle&, const ReportedThrottle&) = default;
};

// device::ThrottleTimes
struct ReportedThrottleTimes {
  ReportedReading<Seconds> power_cap = {};
  ReportedReading<Seconds> sync_boost = {};
  ReportedReading<Seconds> software_thermal = {};
  ReportedReading<Seconds> hardware_thermal = {};
  ReportedReading<Seconds> power_brake = {};

  ReportedThrottleTimes() = default;
  ReportedThrottleTimes(const device::ThrottleTimes& times, Seconds latency);
  [[nodiscard]] device::ThrottleTimes times() const;  // without the details of missing values

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("power_cap", self.power_cap);
    fields("sync_boost", self.sync_boost);
    fields("software_thermal", self.software_thermal);
    fields("hardware_thermal", self.hardware_thermal);
    fields("power_brake", self.power_brake);
  }
  friend bool operator==(const ReportedThrottleTimes&, const ReportedThrottleTimes&) = default;
};

// The parts of a GPU's readings, as a sum; each part costs calls to its driver.
struct GpuParts {
  enum Part : std::uint32_t {
    energy = 1U << 0,
    power = 1U << 1,  // each kind and scope
    limits = 1U << 2,
    clocks = 1U << 3,  // and locks
    state = 1U << 4,   // temperature, utilization, throttling
    persistence = 1U << 5,
    supported_clocks = 1U << 6,  // many calls, for values that never change
  };
  static constexpr std::uint32_t usual = supported_clocks - 1U;

  // As a query has it: "energy,power". Empty for an unknown word, or for none at all.
  static std::optional<std::uint32_t> read(std::string_view words);
  static std::string text(std::uint32_t parts);
};

// Parts that were not asked for keep the values given here.
struct GpuReadings {
  std::uint32_t id = 0;
  std::string uuid = {};
  std::uint64_t generation = 0;  // do not subtract counters of different generations
  ReportedReading<Joules> energy = {};
  std::optional<ReportedCounter> counter = std::nullopt;
  std::vector<ReportedPower> power = {};  // each kind and scope that this GPU has
  ReportedLimits limits = {};
  ReportedClocks clocks = {};
  std::vector<ReportedLock> locks = {};
  std::optional<std::vector<SupportedClocks>> supported_clocks = std::nullopt;  // if asked for and supported
  ReportedReading<Celsius> temperature = {};
  ReportedReading<ReportedUtilization> utilization = {};
  ReportedReading<ReportedThrottle> throttle = {};
  ReportedThrottleTimes throttle_times = {};
  ReportedReading<bool> persistence_mode = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("uuid", self.uuid);
    fields("generation", self.generation);
    fields("energy", self.energy);
    fields("counter", self.counter);
    fields("power", self.power);
    fields("limits", self.limits);
    fields("clocks", self.clocks);
    fields("locks", self.locks);
    fields("supported_clocks", self.supported_clocks, field::Rule{.left_out = true});
    fields("temperature", self.temperature);
    fields("utilization", self.utilization);
    fields("throttle", self.throttle);
    fields("throttle_times", self.throttle_times);
    fields("persistence_mode", self.persistence_mode);
  }
  friend bool operator==(const GpuReadings&, const GpuReadings&) = default;
};

// A counter that continues over wraps, and over restarts of the daemon.
struct CpuCounterReading {
  ReportedReading<Joules> energy = {};
  std::optional<ReportedCounter> counter = std::nullopt;
  std::optional<std::int64_t> began_ns = std::nullopt;  // on the monotonic clock: when it began to count

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("energy", self.energy);
    fields("counter", self.counter);
    fields("began_ns", self.began_ns);
  }
  friend bool operator==(const CpuCounterReading&, const CpuCounterReading&) = default;
};

struct CpuReadings {
  std::uint32_t id = 0;
  std::string name = {};  // "package-0"
  std::uint64_t generation = 0;
  CpuCounterReading package = {};
  CpuCounterReading dram = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("id", self.id);
    fields("name", self.name);
    fields("generation", self.generation);
    fields("package", self.package);
    fields("dram", self.dram);
  }
  friend bool operator==(const CpuReadings&, const CpuReadings&) = default;
};

struct Readings {
  // Both clocks of the daemon at one moment, for clients on other nodes.
  Instant now = {};
  std::uint64_t timestamp_ms = 0;
  std::string instance = {};  // as in /discover
  std::vector<GpuReadings> gpus = {};
  std::vector<CpuReadings> cpus = {};

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("now_ns", self.now.nanoseconds);
    fields("timestamp_ms", self.timestamp_ms);
    fields("instance", self.instance);
    fields("gpus", self.gpus);
    fields("cpus", self.cpus);
  }
  friend bool operator==(const Readings&, const Readings&) = default;
};

}  // namespace zeus::protocol
