#include "cli/device_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace zeus::cli {

using device::Reading;
using Json = nlohmann::ordered_json;

namespace {

// An object that never lacks a key: what has no value is null, with the reason under the same key in "reason".
class Object {
 public:
  template <typename T>
  void put(const char* key, T value) {
    json_[key] = std::move(value);
  }
  void put_nothing(const char* key, const std::string& reason) {
    json_[key] = nullptr;
    reasons_[key] = reason;
  }
  template <typename T, typename Form>
  void put(const char* key, const Reading<T>& reading, Form form) {
    if (reading) {
      put(key, form(*reading));
    } else {
      put_nothing(key, to_text(reading.failure()));
    }
  }
  // Any quantity by its number, without the noise of the last binary digits.
  template <typename T>
  void put_number(const char* key, const Reading<T>& reading) {
    put(key, reading, [](const T& value) { return std::round(value.value() * 1e6) / 1e6; });
  }

  [[nodiscard]] Json take() && {
    if (!reasons_.empty()) {
      json_["reason"] = std::move(reasons_);
    }
    return std::move(json_);
  }

 private:
  Json json_ = Json::object();
  Json reasons_ = Json::object();
};

Json limits_of(const device::Gpu& gpu) {
  const device::PowerLimits limits = gpu.power_limits();
  Object object;
  object.put_number("current", limits.current);
  object.put_number("default", limits.standard);
  object.put_number("min", limits.minimum);
  object.put_number("max", limits.maximum);
  object.put_number("enforced", limits.enforced);
  return std::move(object).take();
}

Json clocks_of(const device::Gpu& gpu) {
  const device::Clocks clocks = gpu.clocks();
  Object object;
  object.put_number("graphics", clocks.graphics);
  object.put_number("sm", clocks.sm);
  object.put_number("memory", clocks.memory);
  object.put_number("max_graphics", clocks.maximum_graphics);
  object.put_number("max_memory", clocks.maximum_memory);
  return std::move(object).take();
}

// "memory average power" as a key: memory_average_power.
std::string key_of(device::GpuFeature feature) {
  std::string key{to_string(feature)};
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
  return key;
}

Json features_of(const device::Gpu& gpu) {
  Object object;
  for (std::size_t i = 0; i < device::gpu_feature_count; ++i) {
    const auto feature = static_cast<device::GpuFeature>(i);
    const device::Outcome& outcome = gpu.features()[feature];
    const std::string name = key_of(feature);
    // What is not supported is known not to be there; anything else leaves it open.
    if (outcome || outcome.failure().reason == device::Reason::unsupported) {
      object.put(name.c_str(), static_cast<bool>(outcome));
    } else {
      object.put_nothing(name.c_str(), to_text(outcome.failure()));
    }
  }
  return std::move(object).take();
}

Json mig_of(const device::MigState& mig) {
  Json slices = Json::array();
  for (const device::MigInstance& slice : mig.instances) {
    slices.push_back({{"uuid", slice.uuid}, {"name", slice.name}});
  }
  return {{"enabled", mig.enabled}, {"slices", std::move(slices)}};
}

void put_counter(Object& object, const Reading<device::EnergyCounter>& counter) {
  if (counter || counter.failure().reason == device::Reason::unsupported) {
    object.put("energy_counter", static_cast<bool>(counter));
  } else {
    object.put_nothing("energy_counter", to_text(counter.failure()));
  }
}

Json gpu_of(const DeviceReport& report, std::size_t index) {
  const device::Gpu& gpu = *report.inventory.gpus[index].gpu;
  const device::GpuIdentity& identity = gpu.identity();
  const ShownPower power = power_to_show(gpu);
  Object object;
  object.put("index", index);
  object.put("uuid", identity.uuid);
  object.put("name", identity.name);
  object.put("vendor", std::string{to_string(identity.vendor)});
  object.put("pci", to_string(identity.pci));
  object.put("driver", identity.driver);
  put_counter(object, gpu.energy_counter());
  object.put("energy_scope", gpu.energy_counter(),
             [](const device::EnergyCounter& counter) { return std::string{to_string(counter.scope)}; });
  object.put_number("update_period_s", report.update_periods[index]);
  object.put("power_limit_w", limits_of(gpu));
  object.put("clocks_mhz", clocks_of(gpu));
  object.put("power_w", power.reading,
             [](const device::Stamped<Watts>& stamped) { return std::round(stamped.value.value() * 1e6) / 1e6; });
  object.put("power_kind", std::string{to_string(power.kind)});
  object.put_number("temperature_c", gpu.temperature());
  object.put("utilization", gpu.utilization(), [](const device::Utilization& busy) {
    return Json{{"gpu", busy.gpu}, {"memory", busy.memory}};
  });
  object.put("throttle", gpu.throttle_reasons(), [](device::ThrottleReasons reasons) { return to_text(reasons); });
  object.put("persistence_mode", gpu.persistence_mode(), [](bool enabled) { return enabled; });
  object.put("mig", gpu.mig(), mig_of);
  if (report.visible_as[index]) {
    object.put("visible_as", *report.visible_as[index]);
  } else {
    object.put_nothing("visible_as", "hidden from programs by the visibility variables");
  }
  if (const std::optional<Holder>& holder = report.holders[index]) {
    object.put("holder", Json{{"pid", holder->pid}, {"command", holder->command}});
  } else {
    object.put_nothing("holder", "nobody has a lease of it");
  }
  object.put("features", features_of(gpu));
  return std::move(object).take();
}

Json cpu_of(const device::CpuPackage& cpu) {
  Object object;
  object.put("index", cpu.identity().index);
  object.put("package", cpu.identity().name);
  // Whether the memory behind it has a counter of its own.
  const Reading<device::EnergyCounter> memory = cpu.energy_counter(device::CpuDomain::dram);
  object.put("dram", static_cast<bool>(memory));
  const Reading<device::Stamped<Joules>> energy = cpu.energy(device::CpuDomain::package);
  put_counter(object, energy ? cpu.energy_counter(device::CpuDomain::package) : energy.failure());
  return std::move(object).take();
}

}  // namespace

std::string to_json(const DeviceReport& report) {
  Json gpus = Json::array();
  for (std::size_t index = 0; index < report.inventory.gpus.size(); ++index) {
    gpus.push_back(gpu_of(report, index));
  }
  Json cpus = Json::array();
  for (const auto& cpu : report.inventory.cpus) {
    cpus.push_back(cpu_of(*cpu));
  }
  Json problems = Json::array();
  for (const device::Problem& problem : report.problems) {
    problems.push_back({{"device", problem.device}, {"what", problem.what}, {"fix", problem.fix}});
  }
  const Json whole{{"gpus", std::move(gpus)}, {"cpus", std::move(cpus)}, {"problems", std::move(problems)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace zeus::cli
