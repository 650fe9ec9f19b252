// Energy, power and power limits.

#include "drivers/nvml/call.hpp"
#include "drivers/nvml/fields.hpp"
#include "physics/operating_point.hpp"

#include <cmath>

namespace zeus::drivers::nvml {

namespace {

unsigned milliwatts(Watts power) {
  return static_cast<unsigned>(std::lround(std::max(Milliwatts{power}.value(), 0.0)));
}

Code set_limit(const Gpu& gpu, unsigned limit) {
  const physics::PowerLimits& allowed = gpu.model().limits;
  if (limit < milliwatts(allowed.min) || limit > milliwatts(allowed.max)) {
    return Code::invalid_argument;
  }
  gpu.set_limit(Milliwatts{static_cast<double>(limit)});
  return Code::success;
}

}  // namespace

Code read_energy(const Gpu& gpu, std::uint64_t& millijoules) {
  const std::optional<std::uint64_t> counted = gpu.session.counted(gpu.index, gpu.now, Millijoules{1});
  if (!counted) {
    return Code::not_supported;
  }
  millijoules = *counted;
  return Code::success;
}

Code read_power(const Gpu& gpu, PowerValueKind kind, unsigned& value) {
  const physics::Gpu view = gpu.view();
  const physics::Sensors sensors{view};
  const std::optional<physics::PowerReading> reading = kind == PowerValueKind::average   ? sensors.average(gpu.now)
                                                       : kind == PowerValueKind::instant ? sensors.instant(gpu.now)
                                                                                         : sensors.power(gpu.now);
  if (!reading) {
    return Code::not_supported;
  }
  value = milliwatts(reading->value);
  return Code::success;
}

unsigned limit_value(const Gpu& gpu, LimitKind kind) {
  const physics::PowerLimits& limits = gpu.model().limits;
  switch (kind) {
    case LimitKind::min:
      return milliwatts(limits.min);
    case LimitKind::max:
      return milliwatts(limits.max);
    case LimitKind::default_limit:
      return milliwatts(limits.default_limit);
    case LimitKind::enforced:
      return milliwatts(gpu.view().controls().enforced_limit());
    case LimitKind::requested:
      break;
  }
  return milliwatts(gpu.view().controls().requested_limit);
}

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetTotalEnergyConsumption(Device* device, unsigned long long* energy) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        std::uint64_t value = 0;
        const Code result = read_energy(gpu, value);
        *energy = result == Code::success ? value : *energy;
        return result;
      },
      energy);
}

ZEUS_NVML Code nvmlDeviceGetPowerUsage(Device* device, unsigned* power) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return read_power(gpu, PowerValueKind::plain, *power); }, power);
}

ZEUS_NVML Code nvmlDeviceGetPowerManagementMode(Device* device, unsigned* mode) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(mode, 1U); }, mode);
}

ZEUS_NVML Code nvmlDeviceGetPowerManagementLimit(Device* device, unsigned* limit) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(limit, limit_value(gpu, LimitKind::requested)); }, limit);
}

ZEUS_NVML Code nvmlDeviceGetEnforcedPowerLimit(Device* device, unsigned* limit) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(limit, limit_value(gpu, LimitKind::enforced)); }, limit);
}

ZEUS_NVML Code nvmlDeviceGetPowerManagementDefaultLimit(Device* device, unsigned* limit) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(limit, limit_value(gpu, LimitKind::default_limit)); }, limit);
}

ZEUS_NVML Code nvmlDeviceGetPowerManagementLimitConstraints(Device* device, unsigned* min, unsigned* max) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        give(min, limit_value(gpu, LimitKind::min));
        return give(max, limit_value(gpu, LimitKind::max));
      },
      min, max);
}

ZEUS_NVML Code nvmlDeviceSetPowerManagementLimit(Device* device, unsigned limit) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) { return set_limit(gpu, limit); });
}

ZEUS_NVML Code nvmlDeviceSetPowerManagementLimit_v2(Device* device, PowerValue* value) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (value->version != versioned<PowerValue>(2)) {
          return Code::argument_version_mismatch;
        }
        return value->scope == PowerScope::gpu ? set_limit(gpu, value->milliwatts) : Code::not_supported;
      },
      value);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
