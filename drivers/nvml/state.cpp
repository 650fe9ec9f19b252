// Memory, temperature, modes and health.

#include "drivers/nvml/call.hpp"
#include "drivers/nvml/catalogue.hpp"

#include <bit>
#include <cmath>

namespace zeus::drivers::nvml {

namespace {

// Memory that the driver reserves for itself: assumed.
constexpr std::uint64_t reserved_bytes = std::uint64_t{512} << 20U;
// How far above the slowdown temperature a GPU turns itself off: assumed.
constexpr Kelvins shutdown_margin{5.0};
constexpr unsigned sampling_period_us = 167'000;
constexpr unsigned performance_state_idle = 8;
constexpr unsigned most_compute_modes = 4;
constexpr unsigned memory_error_kinds = 2;
constexpr unsigned most_mig_devices = 7;

struct MemoryUse {
  std::uint64_t total;
  std::uint64_t used;  // by processes
};

MemoryUse memory_use(const Gpu& gpu) {
  const std::optional<LoadOwner> owner = gpu.session.load_owner(gpu.index);
  return {gpu.model().memory_bytes, owner ? owner->memory_bytes : 0};
}

int celsius(const Gpu& gpu) {
  return static_cast<int>(std::lround(gpu.view().temperature(gpu.now).value()));
}

bool has_mig(const physics::GpuModel& model) {
  return model.architecture == physics::Architecture::ga100 || model.architecture == physics::Architecture::hopper;
}

Code give_threshold(const Gpu& gpu, TemperatureThreshold threshold, unsigned* out) {
  const Celsius slowdown = gpu.model().thermal.slowdown;
  switch (threshold) {
    case TemperatureThreshold::slowdown:
      return give(out, static_cast<unsigned>(std::lround(slowdown.value())));
    case TemperatureThreshold::shutdown:
      return give(out, static_cast<unsigned>(std::lround((slowdown + shutdown_margin).value())));
  }
  return Code::not_supported;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetMemoryInfo(Device* device, Memory* memory) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        const auto [total, used] = memory_use(gpu);
        *memory = {.total = total, .free = total - used - reserved_bytes, .used = used + reserved_bytes};
        return Code::success;
      },
      memory);
}

ZEUS_NVML Code nvmlDeviceGetMemoryInfo_v2(Device* device, MemoryV2* memory) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (memory->version != versioned<MemoryV2>(2)) {
          return Code::argument_version_mismatch;
        }
        const auto [total, used] = memory_use(gpu);
        memory->total = total;
        memory->reserved = reserved_bytes;
        memory->free = total - used - reserved_bytes;
        memory->used = used;
        return Code::success;
      },
      memory);
}

ZEUS_NVML Code nvmlDeviceGetBAR1MemoryInfo(Device* device, Memory* memory) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        const std::uint64_t total = std::bit_ceil(gpu.model().memory_bytes);
        *memory = {.total = total, .free = total, .used = 0};
        return Code::success;
      },
      memory);
}

ZEUS_NVML Code nvmlDeviceGetTemperature(Device* device, TemperatureSensor sensor, unsigned* temperature) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        return sensor == TemperatureSensor::gpu ? give(temperature, static_cast<unsigned>(std::max(celsius(gpu), 0)))
                                                : Code::invalid_argument;
      },
      temperature);
}

ZEUS_NVML Code nvmlDeviceGetTemperatureV(Device* device, Temperature* temperature) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (temperature->version != versioned<Temperature>(1)) {
          return Code::argument_version_mismatch;
        }
        return temperature->sensor == TemperatureSensor::gpu ? give(&temperature->celsius, celsius(gpu))
                                                             : Code::invalid_argument;
      },
      temperature);
}

ZEUS_NVML Code nvmlDeviceGetTemperatureThreshold(Device* device, TemperatureThreshold threshold, unsigned* value) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_threshold(gpu, threshold, value); }, value);
}

ZEUS_NVML Code nvmlDeviceGetPerformanceState(Device* device, unsigned* state) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
        // GPUs whose memory clock never goes down stay in the highest state.
        const bool down = point.memory_clock < gpu.model().clocks.memory;
        return give(state, down ? performance_state_idle : 0U);
      },
      state);
}

ZEUS_NVML Code nvmlDeviceGetPowerState(Device* device, unsigned* state) {
  return nvmlDeviceGetPerformanceState(device, state);
}

ZEUS_NVML Code nvmlDeviceGetPersistenceMode(Device* device, unsigned* mode) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(mode, gpu.session.settings(gpu.index).persistence); }, mode);
}

ZEUS_NVML Code nvmlDeviceSetPersistenceMode(Device* device, unsigned mode) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) {
    if (mode > 1) {
      return Code::invalid_argument;
    }
    gpu.session.change_settings(gpu.index, [&](GpuSettings& settings) { settings.persistence = mode; });
    return Code::success;
  });
}

ZEUS_NVML Code nvmlDeviceGetComputeMode(Device* device, unsigned* mode) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(mode, gpu.session.settings(gpu.index).compute_mode); }, mode);
}

ZEUS_NVML Code nvmlDeviceSetComputeMode(Device* device, unsigned mode) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) {
    if (mode >= most_compute_modes) {
      return Code::invalid_argument;
    }
    gpu.session.change_settings(gpu.index, [&](GpuSettings& settings) { settings.compute_mode = mode; });
    return Code::success;
  });
}

ZEUS_NVML Code nvmlDeviceGetDisplayMode(Device* device, unsigned* mode) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(mode, 0U); }, mode);
}

ZEUS_NVML Code nvmlDeviceGetDisplayActive(Device* device, unsigned* active) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(active, 0U); }, active);
}

ZEUS_NVML Code nvmlDeviceGetEccMode(Device* device, unsigned* current, unsigned* pending) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu&) {
        give(current, 1U);
        return give(pending, 1U);
      },
      current, pending);
}

ZEUS_NVML Code nvmlDeviceGetTotalEccErrors(Device* device, unsigned kind, unsigned counter,
                                           unsigned long long* errors) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu&) {
        return kind < memory_error_kinds && counter < memory_error_kinds ? give(errors, 0ULL) : Code::invalid_argument;
      },
      errors);
}

ZEUS_NVML Code nvmlDeviceGetEncoderUtilization(Device* device, unsigned* utilization, unsigned* period_us) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu&) {
        give(period_us, sampling_period_us);
        return give(utilization, 0U);
      },
      utilization, period_us);
}

ZEUS_NVML Code nvmlDeviceGetDecoderUtilization(Device* device, unsigned* utilization, unsigned* period_us) {
  return nvmlDeviceGetEncoderUtilization(device, utilization, period_us);
}

ZEUS_NVML Code nvmlDeviceGetPcieReplayCounter(Device* device, unsigned* replays) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(replays, 0U); }, replays);
}

ZEUS_NVML Code nvmlDeviceGetPcieThroughput(Device* device, unsigned, unsigned* kilobytes_per_second) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(kilobytes_per_second, 0U); }, kilobytes_per_second);
}

ZEUS_NVML Code nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (!has_mig(gpu.model())) {
          return Code::not_supported;
        }
        give(current, 0U);
        return give(pending, 0U);
      },
      current, pending);
}

ZEUS_NVML Code nvmlDeviceIsMigDeviceHandle(Device* device, unsigned* is_mig) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(is_mig, 0U); }, is_mig);
}

ZEUS_NVML Code nvmlDeviceGetMaxMigDeviceCount(Device* device, unsigned* count) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give(count, has_mig(gpu.model()) ? most_mig_devices : 0U); },
      count);
}

ZEUS_NVML Code nvmlDeviceGetMigDeviceHandleByIndex(Device* device, unsigned, Device** instance) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return has_mig(gpu.model()) ? Code::not_found : Code::not_supported; },
      instance);
}

ZEUS_NVML Code nvmlDeviceGetC2cModeInfoV(Device* device, unsigned* enabled) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(enabled, 0U); }, enabled);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
