// Field values, each with its own result, and the driver's rings of samples.

#include "drivers/nvml/call.hpp"
#include "drivers/nvml/fields.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace zeus::drivers::nvml {

namespace {

Code give_uint32(FieldValue& value, unsigned number) {
  value.type = ValueType::uint32;
  value.value.uint32 = number;
  return Code::success;
}

Code give_uint64(FieldValue& value, std::uint64_t number) {
  value.type = ValueType::uint64;
  value.value.uint64 = number;
  return Code::success;
}

Code give_power(const Gpu& gpu, FieldValue& value, PowerValueKind kind) {
  if (static_cast<PowerScope>(value.scope) != PowerScope::gpu) {
    return Code::not_supported;
  }
  unsigned power = 0;
  const Code result = read_power(gpu, kind, power);
  return result == Code::success ? give_uint32(value, power) : result;
}

Code give_limit(const Gpu& gpu, FieldValue& value, LimitKind kind) {
  return static_cast<PowerScope>(value.scope) == PowerScope::gpu ? give_uint32(value, limit_value(gpu, kind))
                                                                 : Code::not_supported;
}

Code give_energy(const Gpu& gpu, FieldValue& value) {
  std::uint64_t energy = 0;
  const Code result = read_energy(gpu, energy);
  return result == Code::success ? give_uint64(value, energy) : result;
}

Code read_field(const Gpu& gpu, FieldValue& value) {
  switch (value.field) {
    case field::total_energy:
    case field::energy:
      return give_energy(gpu, value);
    case field::power_average:
      return give_power(gpu, value, PowerValueKind::average);
    case field::power_instant:
      return give_power(gpu, value, PowerValueKind::instant);
    case field::limit_min:
      return give_limit(gpu, value, LimitKind::min);
    case field::limit_max:
      return give_limit(gpu, value, LimitKind::max);
    case field::limit_default:
      return give_limit(gpu, value, LimitKind::default_limit);
    case field::limit_enforced:
      return give_limit(gpu, value, LimitKind::enforced);
    case field::limit_requested:
      return give_limit(gpu, value, LimitKind::requested);
    case field::software_thermal_slowdown:
      return give_uint64(value, violation_ns(gpu, PerformancePolicy::thermal));
    case field::hardware_thermal_slowdown:
    case field::hardware_power_brake:
      return give_uint64(value, 0);
    default:
      break;
  }
  if (value.field >= field::policy_power && value.field <= field::policy_base_clocks) {
    const unsigned offset = value.field - field::policy_power;
    // The last two policies have the numbers 10 and 11, but their fields follow without a gap.
    const unsigned policy = offset < 6 ? offset : offset + 4;
    return give_uint64(value, violation_ns(gpu, static_cast<PerformancePolicy>(policy)));
  }
  return Code::not_supported;
}

// The samples of the ring: when, and the power then.
std::vector<physics::PowerReading> ring(const Gpu& gpu, std::uint64_t last_seen_us) {
  std::vector<physics::PowerReading> samples(gpu.model().sensors.sample_depth);
  const physics::Gpu view = gpu.view();
  const std::size_t count = physics::Sensors{view}.samples(gpu.now, gpu.session.after_stamp(last_seen_us), samples);
  samples.resize(count);
  return samples;
}

unsigned sample_value(const physics::Gpu& view, SampleType type, const physics::PowerReading& power) {
  const physics::OperatingPoint point = view.operating_point(power.updated);
  switch (type) {
    case SampleType::power:
      return static_cast<unsigned>(std::lround(std::max(Milliwatts{power.value}.value(), 0.0)));
    case SampleType::gpu_utilization:
      return percent(point.gpu_utilization);
    case SampleType::memory_utilization:
      return percent(point.memory_utilization);
    case SampleType::sm_clock:
      return static_cast<unsigned>(std::lround(point.sm_clock.value()));
    case SampleType::memory_clock:
      break;
  }
  return static_cast<unsigned>(std::lround(point.memory_clock.value()));
}

bool known(SampleType type) {
  return type <= SampleType::memory_utilization || type == SampleType::sm_clock || type == SampleType::memory_clock;
}

Code give_samples(const Gpu& gpu, SampleType type, std::uint64_t last_seen_us, unsigned& count, Sample* out) {
  if (!known(type) || gpu.model().sensors.sample_depth == 0) {
    return Code::not_supported;
  }
  if (out == nullptr) {
    count = gpu.model().sensors.sample_depth;
    return Code::success;
  }
  const std::vector<physics::PowerReading> samples = ring(gpu, last_seen_us);
  if (samples.empty()) {
    return Code::not_found;
  }
  if (samples.size() > count) {
    return Code::insufficient_size;
  }
  const physics::Gpu view = gpu.view();
  std::ranges::transform(samples, out, [&](const physics::PowerReading& sample) {
    return Sample{.timestamp_us = static_cast<std::uint64_t>(stamp(gpu.session, sample.updated)),
                  .value = {.uint64 = sample_value(view, type, sample)}};
  });
  count = static_cast<unsigned>(samples.size());
  return Code::success;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlDeviceGetFieldValues(Device* device, int count, FieldValue* values) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        if (count <= 0) {
          return Code::invalid_argument;
        }
        for (FieldValue& value : std::span{values, static_cast<std::size_t>(count)}) {
          value.timestamp_us = stamp(gpu.session, gpu.now);
          value.latency_us = 0;
          value.value.uint64 = 0;
          value.result = read_field(gpu, value);
        }
        return Code::success;
      },
      values);
}

ZEUS_NVML Code nvmlDeviceGetSamples(Device* device, SampleType type, unsigned long long last_seen_us,
                                    ValueType* value_type, unsigned* count, Sample* samples) {
  return Entry::gpu_call(
      __func__, device,
      [&](const Gpu& gpu) {
        *value_type = ValueType::uint32;
        return give_samples(gpu, type, last_seen_us, *count, samples);
      },
      value_type, count);
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
