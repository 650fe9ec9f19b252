// Clocks, locks on them, what holds them down, and utilization.

#include "drivers/nvml/call.hpp"
#include "drivers/nvml/fields.hpp"
#include "physics/gpu.hpp"
#include "physics/operating_point.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::drivers::nvml {

namespace {

// Utilization is a mean over this time, as with most of the vendor's GPUs.
constexpr Seconds utilization_window{1.0};

unsigned megahertz(Megahertz clock) {
  return static_cast<unsigned>(std::lround(clock.value()));
}

bool locks_clocks(const physics::GpuModel& model) {
  return model.architecture != physics::Architecture::pascal;
}

bool locks_memory_clocks(const physics::GpuModel& model) {
  return locks_clocks(model) && model.architecture != physics::Architecture::volta &&
         model.architecture != physics::Architecture::turing;
}

Code give_clock(const Gpu& gpu, ClockType type, unsigned* clock) {
  if (type > ClockType::video) {
    return Code::invalid_argument;
  }
  const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
  return give(clock, megahertz(type == ClockType::memory ? point.memory_clock : point.sm_clock));
}

Code give_max_clock(const Gpu& gpu, ClockType type, unsigned* clock) {
  if (type > ClockType::video) {
    return Code::invalid_argument;
  }
  const physics::ClockRange& range = gpu.model().clocks;
  return give(clock, megahertz(type == ClockType::memory ? range.memory : range.max));
}

std::vector<unsigned> memory_clocks(const physics::GpuModel& model) {
  std::vector<unsigned> clocks{megahertz(model.clocks.memory)};
  if (model.clocks.memory_idle != model.clocks.memory) {
    clocks.push_back(megahertz(model.clocks.memory_idle));
  }
  return clocks;
}

// Highest first, as the vendor's library lists them.
std::vector<unsigned> graphics_clocks(const physics::GpuModel& model) {
  std::vector<unsigned> clocks;
  const physics::ClockRange& range = model.clocks;
  const auto steps = static_cast<int>(std::floor((range.max - range.min) / range.step + 1e-9));
  for (int i = 0; i <= steps; ++i) {
    clocks.push_back(megahertz(range.max - range.step * static_cast<double>(i)));
  }
  return clocks;
}

Code give_list(const std::vector<unsigned>& list, unsigned* count, unsigned* out) {
  const bool fits = out != nullptr && *count >= list.size();
  *count = static_cast<unsigned>(list.size());
  if (!fits) {
    return Code::insufficient_size;
  }
  std::ranges::copy(list, out);
  return Code::success;
}

bool symbolic(unsigned clock) {
  return clock == symbolic_clock_tdp || clock == symbolic_clock_unlimited;
}

Code lock_clocks(const Gpu& gpu, unsigned min, unsigned max) {
  const physics::ClockRange& range = gpu.model().clocks;
  if (!locks_clocks(gpu.model())) {
    return Code::not_supported;
  }
  const bool any_symbolic = min > symbolic_clocks_begin || max > symbolic_clocks_begin;
  if (any_symbolic ? !symbolic(min) || !symbolic(max) : min > max) {
    return Code::invalid_argument;
  }
  const Megahertz low = any_symbolic ? range.max : Megahertz{static_cast<double>(min)};
  const Megahertz high = any_symbolic ? range.max : Megahertz{static_cast<double>(max)};
  return gpu.lock_clocks(low, high) ? Code::success : Code::invalid_argument;
}

Code unlock_clocks(const Gpu& gpu) {
  if (!locks_clocks(gpu.model())) {
    return Code::not_supported;
  }
  gpu.unlock_clocks();
  return Code::success;
}

// The model's memory clock has one value under load: a lock to that value holds, and any other is refused.
Code lock_memory_clocks(const Gpu& gpu, unsigned min, unsigned max) {
  if (!locks_memory_clocks(gpu.model())) {
    return Code::not_supported;
  }
  const unsigned only = megahertz(gpu.model().clocks.memory);
  return min <= max && min <= only && max >= only ? Code::success : Code::invalid_argument;
}

std::uint64_t event_reasons(const Gpu& gpu) {
  const physics::OperatingPoint point = gpu.view().operating_point(gpu.now);
  return (point.held_by(physics::Throttle::idle) ? reason::idle : 0) |
         (point.held_by(physics::Throttle::power_cap) ? reason::software_power_cap : 0) |
         (point.held_by(physics::Throttle::thermal) ? reason::software_thermal : 0) |
         (point.held_by(physics::Throttle::locked_clock) ? reason::application_clocks : 0);
}

Code give_utilization(const Gpu& gpu, Utilization* out) {
  const physics::Gpu view = gpu.view();
  const Instant from = gpu.now - utilization_window;
  const double busy = (view.totals(gpu.now).busy - view.totals(from).busy) / utilization_window;
  const double memory = view.operating_point(gpu.now).memory_utilization;
  *out = {.gpu = percent(busy), .memory = percent(memory)};
  return Code::success;
}

}  // namespace

std::uint64_t violation_ns(const Gpu& gpu, PerformancePolicy policy) {
  const physics::Totals totals = gpu.view().totals(gpu.now);
  const Seconds held = policy == PerformancePolicy::power     ? totals.capped
                       : policy == PerformancePolicy::thermal ? totals.throttled
                                                              : Seconds{0};
  return static_cast<std::uint64_t>(std::max(held.value(), 0.0) * 1e9);
}

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetClockInfo(Device* device, ClockType type, unsigned* clock) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_clock(gpu, type, clock); }, clock);
}

ZEUS_NVML Code nvmlDeviceGetMaxClockInfo(Device* device, ClockType type, unsigned* clock) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_max_clock(gpu, type, clock); }, clock);
}

ZEUS_NVML Code nvmlDeviceGetMaxCustomerBoostClock(Device* device, ClockType type, unsigned* clock) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_max_clock(gpu, type, clock); }, clock);
}

ZEUS_NVML Code nvmlDeviceGetClock(Device* device, ClockType type, ClockId id, unsigned* clock) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        switch (id) {
          case ClockId::current:
            return give_clock(gpu, type, clock);
          case ClockId::customer_boost_max:
            return give_max_clock(gpu, type, clock);
          case ClockId::application_target:
          case ClockId::application_default:
            return Code::not_supported;
        }
        return Code::invalid_argument;
      },
      clock);
}

ZEUS_NVML Code nvmlDeviceGetSupportedMemoryClocks(Device* device, unsigned* count, unsigned* clocks) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_list(memory_clocks(gpu.model()), count, clocks); }, count);
}

ZEUS_NVML Code nvmlDeviceGetSupportedGraphicsClocks(Device* device, unsigned memory_clock, unsigned* count,
                                                    unsigned* clocks) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (std::ranges::count(memory_clocks(gpu.model()), memory_clock) == 0) {
          return Code::not_found;
        }
        return give_list(graphics_clocks(gpu.model()), count, clocks);
      },
      count);
}

ZEUS_NVML Code nvmlDeviceSetGpuLockedClocks(Device* device, unsigned min, unsigned max) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) { return lock_clocks(gpu, min, max); });
}

ZEUS_NVML Code nvmlDeviceResetGpuLockedClocks(Device* device) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) { return unlock_clocks(gpu); });
}

ZEUS_NVML Code nvmlDeviceSetMemoryLockedClocks(Device* device, unsigned min, unsigned max) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) { return lock_memory_clocks(gpu, min, max); });
}

ZEUS_NVML Code nvmlDeviceResetMemoryLockedClocks(Device* device) {
  return Entry::gpu_call(__func__, device, [&](const Gpu& gpu) {
    return locks_memory_clocks(gpu.model()) ? Code::success : Code::not_supported;
  });
}

ZEUS_NVML Code nvmlDeviceGetCurrentClocksEventReasons(Device* device, unsigned long long* reasons) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) { return give(reasons, static_cast<unsigned long long>(event_reasons(gpu))); }, reasons);
}

ZEUS_NVML Code nvmlDeviceGetCurrentClocksThrottleReasons(Device* device, unsigned long long* reasons) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) { return give(reasons, static_cast<unsigned long long>(event_reasons(gpu))); }, reasons);
}

ZEUS_NVML Code nvmlDeviceGetSupportedClocksEventReasons(Device* device, unsigned long long* reasons) {
  constexpr unsigned long long all =
      reason::idle | reason::application_clocks | reason::software_power_cap | reason::software_thermal;
  return Entry::gpu_call(
      __func__, device, [&](const Gpu&) { return give(reasons, all); }, reasons);
}

ZEUS_NVML Code nvmlDeviceGetSupportedClocksThrottleReasons(Device* device, unsigned long long* reasons) {
  return nvmlDeviceGetSupportedClocksEventReasons(device, reasons);
}

ZEUS_NVML Code nvmlDeviceGetViolationStatus(Device* device, PerformancePolicy policy, ViolationTime* time) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        *time = {.reference_us = static_cast<std::uint64_t>(stamp(gpu.session, gpu.now)),
                 .violation_ns = violation_ns(gpu, policy)};
        return Code::success;
      },
      time);
}

ZEUS_NVML Code nvmlDeviceGetUtilizationRates(Device* device, Utilization* utilization) {
  return Entry::gpu_call(
      __func__, device, [&](const Gpu& gpu) { return give_utilization(gpu, utilization); }, utilization);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
