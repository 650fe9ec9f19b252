// Energy, power, power limits, clocks, temperature and utilization.

#include "drivers/amdsmi/call.hpp"
#include "physics/operating_point.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::drivers::amdsmi {

namespace {

// Microjoules per count of the energy counter.
constexpr double energy_resolution_uj = 15.3;
constexpr std::size_t most_frequencies = 33;

std::uint64_t microwatts(Watts power) {
  return static_cast<std::uint64_t>(std::llround(std::max(power.value(), 0.0) * 1e6));
}

std::uint32_t whole_watts(const std::optional<physics::PowerReading>& reading) {
  return reading ? static_cast<std::uint32_t>(std::lround(std::max(reading->value.value(), 0.0))) : not_available_16;
}

std::uint32_t megahertz(Megahertz clock) {
  return static_cast<std::uint32_t>(std::lround(clock.value()));
}

Code set_cap(const Gpu& gpu, std::uint64_t cap) {
  const physics::PowerLimits& allowed = gpu.model().limits;
  if (cap < microwatts(allowed.min) || cap > microwatts(allowed.max)) {
    return Code::invalid_argument;
  }
  gpu.set_limit(Watts{static_cast<double>(cap) * 1e-6});
  return Code::success;
}

Code set_range(const Gpu& gpu, std::uint64_t min, std::uint64_t max, ClockType type) {
  if (type != ClockType::graphics) {
    return type == ClockType::memory ? Code::not_supported : Code::invalid_argument;
  }
  const bool locked =
      min <= max && gpu.lock_clocks(Megahertz{static_cast<double>(min)}, Megahertz{static_cast<double>(max)});
  return locked ? Code::success : Code::invalid_argument;
}

Code give_clock(const Gpu& gpu, ClockType type, ClockInfo* info) {
  const physics::ClockRange& range = gpu.model().clocks;
  const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
  *info = {};
  if (type == ClockType::graphics) {
    info->current = megahertz(point.sm_clock);
    info->min = megahertz(range.min);
    info->max = megahertz(range.max);
    info->locked = gpu.view().controls().clocks_locked ? 1 : 0;
    return Code::success;
  }
  if (type == ClockType::memory) {
    info->current = megahertz(point.memory_clock);
    info->min = megahertz(range.memory_idle);
    info->max = megahertz(range.memory);
    return Code::success;
  }
  return Code::not_supported;
}

// Lowest first, evenly spread if there are more than the structure can hold.
Code give_frequencies(const Gpu& gpu, ClockType type, Frequencies* out) {
  if (type != ClockType::graphics && type != ClockType::memory) {
    return Code::not_supported;
  }
  const physics::ClockRange& range = gpu.model().clocks;
  const bool graphics = type == ClockType::graphics;
  const Megahertz min = graphics ? range.min : range.memory_idle;
  const Megahertz max = graphics ? range.max : range.memory;
  const double steps = graphics ? std::floor((max - min) / range.step) : (max > min ? 1.0 : 0.0);
  const auto count = std::min(static_cast<std::size_t>(steps) + 1, most_frequencies);
  const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
  const Megahertz current = graphics ? point.sm_clock : point.memory_clock;
  *out = {};
  out->count = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const Megahertz clock = min + (max - min) * share;
    out->hertz[i] = static_cast<std::uint64_t>(std::llround(Hertz{clock}.value()));
    out->current = clock <= current ? static_cast<std::uint32_t>(i) : out->current;
  }
  return Code::success;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_AMDSMI Code amdsmi_get_energy_count(Processor* processor, std::uint64_t* counted, float* resolution,
                                         std::uint64_t* timestamp) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const auto steps = gpu.session.counted(gpu.index, gpu.now, Joules{energy_resolution_uj * 1e-6});
        if (!steps) {
          return Code::not_supported;
        }
        *resolution = static_cast<float>(energy_resolution_uj);
        *counted = *steps;
        *timestamp = static_cast<std::uint64_t>(gpu.now.nanoseconds);
        return Code::success;
      },
      counted, resolution, timestamp);
}

ZEUS_AMDSMI Code amdsmi_get_power_info(Processor* processor, PowerInfo* info) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const physics::Gpu view = gpu.view();
        const physics::Sensors sensors{view};
        *info = {};
        info->current_socket_power = whole_watts(sensors.instant(gpu.now));
        info->average_socket_power = whole_watts(sensors.average(gpu.now));
        info->socket_power = whole_watts(sensors.power(gpu.now));
        info->graphics_voltage = info->soc_voltage = info->memory_voltage = not_available_16;
        info->power_limit = static_cast<std::uint32_t>(std::lround(view.controls().enforced_limit().value()));
        return Code::success;
      },
      info);
}

ZEUS_AMDSMI Code amdsmi_get_power_cap_info(Processor* processor, std::uint32_t, PowerCap* cap) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const physics::PowerLimits& limits = gpu.model().limits;
        *cap = {.cap = microwatts(gpu.view().controls().enforced_limit()),
                .standard = microwatts(limits.default_limit),
                .dpm = 0,
                .min = microwatts(limits.min),
                .max = microwatts(limits.max),
                .reserved = {}};
        return Code::success;
      },
      cap);
}

ZEUS_AMDSMI Code amdsmi_set_power_cap(Processor* processor, std::uint32_t, std::uint64_t cap) {
  return Entry::gpu_call(__func__, processor, [&](const Gpu& gpu) { return set_cap(gpu, cap); });
}

ZEUS_AMDSMI Code amdsmi_get_clock_info(Processor* processor, ClockType type, ClockInfo* info) {
  return Entry::gpu_call(
      __func__, processor, [&](const Gpu& gpu) { return give_clock(gpu, type, info); }, info);
}

ZEUS_AMDSMI Code amdsmi_get_clk_freq(Processor* processor, ClockType type, Frequencies* frequencies) {
  return Entry::gpu_call(
      __func__, processor, [&](const Gpu& gpu) { return give_frequencies(gpu, type, frequencies); }, frequencies);
}

ZEUS_AMDSMI Code amdsmi_set_gpu_clk_range(Processor* processor, std::uint64_t min, std::uint64_t max, ClockType type) {
  return Entry::gpu_call(__func__, processor, [&](const Gpu& gpu) { return set_range(gpu, min, max, type); });
}

ZEUS_AMDSMI Code amdsmi_set_gpu_perf_level(Processor* processor, std::uint32_t level) {
  return Entry::gpu_call(__func__, processor, [&](const Gpu& gpu) {
    if (level != level_automatic) {
      return Code::not_supported;
    }
    gpu.unlock_clocks();
    return Code::success;
  });
}

ZEUS_AMDSMI Code amdsmi_get_temp_metric(Processor* processor, std::uint32_t sensor, std::uint32_t metric,
                                        std::int64_t* temperature) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        if (sensor > temperature_hotspot || metric != temperature_is_current) {
          return Code::not_supported;
        }
        *temperature = std::lround(gpu.view().temperature(gpu.now).value());
        return Code::success;
      },
      temperature);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_activity(Processor* processor, EngineUsage* usage) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
        *usage = {.graphics = percent(point.gpu_utilization),
                  .memory = percent(point.memory_utilization),
                  .multimedia = not_available_16,
                  .reserved = {}};
        return Code::success;
      },
      usage);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_vram_usage(Processor* processor, VramUsage* usage) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const std::optional<LoadOwner> owner = gpu.session.load_owner(gpu.index);
        *usage = {.total_mb = static_cast<std::uint32_t>(gpu.model().memory_bytes >> 20U),
                  .used_mb = static_cast<std::uint32_t>((owner ? owner->memory_bytes : 0) >> 20U),
                  .reserved = {}};
        return Code::success;
      },
      usage);
}

ZEUS_AMDSMI Code amdsmi_get_gpu_process_list(Processor* processor, std::uint32_t* count, Process* processes) {
  return Entry::gpu_call(
      __func__, processor,
      [&](const Gpu& gpu) {
        const std::optional<LoadOwner> owner = gpu.session.load_owner(gpu.index);
        const std::uint32_t room = processes == nullptr ? 0 : *count;
        *count = owner ? 1 : 0;
        if (!owner || processes == nullptr) {
          return Code::success;
        }
        if (room == 0) {
          return Code::insufficient_size;
        }
        processes[0] = {};
        processes[0].pid = static_cast<std::uint32_t>(owner->process);
        processes[0].memory = owner->memory_bytes;
        return Code::success;
      },
      count);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::amdsmi
