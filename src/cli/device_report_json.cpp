#include "cli/device_report.hpp"

#include "cli/json_number.hpp"
#include "cli/lease_json.hpp"
#include "records/json_writer.hpp"

#include <algorithm>
#include <cctype>
#include <concepts>

namespace zeus::cli {

using records::JsonWriter;

namespace {

// No key is ever missing: an unknown value is null, with the reason.
template <typename T, std::invocable<const T&> Form>
void put(JsonWriter& json, std::string_view key, const Reading<T>& reading, Form form) {
  if (reading) {
    json.put(key, form(*reading));
  } else {
    json.put_unknown(key, to_string(reading.failure()));
  }
}

template <typename T>
void put_number(JsonWriter& json, std::string_view key, const Reading<T>& reading) {
  put(json, key, reading, [](const T& quantity) { return json_number(quantity); });
}

void put_limits(JsonWriter& json, const device::Gpu& gpu) {
  const PowerLimits limits = gpu.power_limits();
  json.put("power_limit_w", [&] {
    put_number(json, "current", limits.current);
    put_number(json, "default", limits.standard);
    put_number(json, "min", limits.minimum);
    put_number(json, "max", limits.maximum);
    put_number(json, "enforced", limits.enforced);
  });
}

void put_clocks(JsonWriter& json, const device::Gpu& gpu) {
  const device::Clocks clocks = gpu.clocks();
  json.put("clocks_mhz", [&] {
    put_number(json, "graphics", clocks.graphics);
    put_number(json, "sm", clocks.sm);
    put_number(json, "memory", clocks.memory);
    put_number(json, "max_graphics", clocks.maximum_graphics);
    put_number(json, "max_memory", clocks.maximum_memory);
  });
}

// "Not supported" means that the GPU lacks it; any other failure leaves that open.
template <typename Outcome>
void put_presence(JsonWriter& json, std::string_view key, const Outcome& outcome) {
  if (outcome || outcome.failure().reason == Reason::unsupported) {
    json.put(key, static_cast<bool>(outcome));
  } else {
    json.put_unknown(key, to_string(outcome.failure()));
  }
}

// "memory average power" as a key: memory_average_power.
std::string key_of(device::GpuFeature feature) {
  std::string key{to_string(feature)};
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
  return key;
}

void put_features(JsonWriter& json, const device::Gpu& gpu) {
  json.put("features", [&] {
    for (std::size_t i = 0; i < device::gpu_feature_count; ++i) {
      const auto feature = static_cast<device::GpuFeature>(i);
      put_presence(json, key_of(feature), gpu.features()[feature]);
    }
  });
}

void put_mig(JsonWriter& json, const Reading<device::MigState>& mig) {
  put(json, "mig", mig, [&](const device::MigState& state) {
    return [&json, &state] {
      json.put("enabled", state.enabled);
      json.put_list("slices", state.instances, [&](const device::MigInstance& slice) {
        json.object([&] {
          json.put("uuid", slice.uuid);
          json.put("name", slice.name);
        });
      });
    };
  });
}

void put_gpu(JsonWriter& json, const DeviceReport& report, std::size_t index) {
  const device::Gpu& gpu = *report.inventory.gpus[index].gpu;
  const device::GpuIdentity& identity = gpu.identity();
  const ShownPower power = power_to_show(gpu);
  json.put("index", index);
  json.put("uuid", identity.uuid);
  json.put("name", identity.name);
  json.put("vendor", to_string(identity.vendor));
  json.put("pci", to_string(identity.pci));
  json.put("driver", identity.driver);
  put_presence(json, "energy_counter", gpu.energy_counter());
  put(json, "energy_scope", gpu.energy_counter(),
      [](const device::EnergyCounter& counter) { return to_string(counter.scope); });
  put_number(json, "update_period_s", report.update_periods[index]);
  put_limits(json, gpu);
  put_clocks(json, gpu);
  put(json, "power_w", power.reading, [](const device::Stamped<Watts>& stamped) { return json_number(stamped.value); });
  json.put("power_kind", to_string(power.kind));
  put_number(json, "temperature_c", gpu.temperature());
  put(json, "utilization", gpu.utilization(), [&json](const device::Utilization& busy) {
    return [&json, busy] {
      json.put("gpu", busy.gpu);
      json.put("memory", busy.memory);
    };
  });
  put(json, "throttle", gpu.throttle_reasons(), [](ThrottleReasons reasons) { return to_string(reasons); });
  put(json, "persistence_mode", gpu.persistence_mode(), [](bool enabled) { return enabled; });
  put_mig(json, gpu.mig());
  json.put("visible_as", report.inventory.gpus[index].number, "hidden from programs by the visibility variables");
  if (const std::optional<control::Claim>& lease = report.leases[index]) {
    put_holder(json, *lease);
  } else {
    put_no_holder(json, "no process has a lease of it");
  }
  put_features(json, gpu);
}

void put_cpu(JsonWriter& json, const device::CpuPackage& cpu) {
  json.put("index", cpu.identity().index);
  json.put("package", cpu.identity().name);
  // Whether the package's memory has a counter of its own.
  json.put("dram", static_cast<bool>(cpu.energy_counter(device::CpuDomain::dram)));
  const Reading<device::Stamped<Joules>> energy = cpu.energy(device::CpuDomain::package);
  put_presence<Reading<device::EnergyCounter>>(
      json, "energy_counter", energy ? cpu.energy_counter(device::CpuDomain::package) : energy.failure());
}

}  // namespace

std::string to_json(const DeviceReport& report) {
  JsonWriter json;
  json.object([&] {
    std::size_t index = 0;
    json.put_list("gpus", report.inventory.gpus,
                  [&](const auto&) { json.object([&] { put_gpu(json, report, index++); }); });
    json.put_list("cpus", report.inventory.cpus, [&](const auto& cpu) { json.object([&] { put_cpu(json, *cpu); }); });
    json.put_list("problems", report.problems, [&](const DeviceProblem& problem) {
      json.object([&] {
        json.put("device", problem.device);
        json.put("what", problem.what);
        json.put("fix", problem.fix);
      });
    });
  });
  return json.take();
}

}  // namespace zeus::cli
