#include "backends/nvml/nvml_gpu.hpp"

#include "backends/nvml/ask.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace zeus::backends::nvml {

using device::GpuFeature;
using device::Outcome;
using device::Stamped;

namespace {

Reading<Watts> watts(const Reading<unsigned>& milliwatts) {
  return milliwatts ? Reading<Watts>{Milliwatts{static_cast<double>(*milliwatts)}} : milliwatts.failure();
}

Reading<Megahertz> megahertz(const Reading<unsigned>& reading) {
  return reading ? Reading<Megahertz>{Megahertz{static_cast<double>(*reading)}} : reading.failure();
}

abi::PowerScope code_of(PowerScope scope) {
  return scope == PowerScope::module   ? abi::PowerScope::module
         : scope == PowerScope::memory ? abi::PowerScope::memory
                                       : abi::PowerScope::gpu;
}

// The clocks that `function(handle, arguments..., &count, clocks)` lists, highest first.
template <typename Function, typename... Arguments>
Reading<std::vector<Megahertz>> list_clocks(Function* function, abi::Device* handle, Arguments... arguments) {
  if (function == nullptr) {
    return call_missing;
  }
  unsigned count = 0;
  abi::Code code = function(handle, arguments..., &count, nullptr);
  std::vector<unsigned> clocks(count);
  if (code == abi::Code::insufficient_size || (code == abi::Code::success && count > 0)) {
    code = function(handle, arguments..., &count, clocks.data());
  }
  if (code == abi::Code::not_found && sizeof...(arguments) > 0) {
    return Failure{Reason::out_of_range, "memory does not run at this clock"};
  }
  if (code != abi::Code::success) {
    return Api::failure_of(code);
  }
  clocks.resize(std::min<std::size_t>(count, clocks.size()));
  std::ranges::sort(clocks, std::greater<>{});
  std::vector<Megahertz> result;
  std::ranges::transform(clocks, std::back_inserter(result),
                         [](unsigned clock) { return Megahertz{static_cast<double>(clock)}; });
  return result;
}

}  // namespace

NvmlGpu::NvmlGpu(std::shared_ptr<NvmlLibrary> library, abi::Device* handle, device::GpuIdentity identity)
    : library_{std::move(library)},
      handle_{handle},
      identity_{std::move(identity)},
      generation_{library_->generation()} {
  probe();
}

void NvmlGpu::probe() {
  energy_source_ = EnergySource::none;
  for (const EnergySource source : {EnergySource::call, EnergySource::energy_field, EnergySource::total_energy_field}) {
    const Reading<Stamped<Joules>> reading = energy_from(source);
    if (reading) {
      energy_source_ = source;
      break;
    }
    // Keep the first failure: it comes from the call made for this, and says most.
    no_energy_ = source == EnergySource::call ? reading.failure() : no_energy_;
  }
  features_.probe(GpuFeature::energy_counter, energy());
  for (const PowerKind kind : {PowerKind::instant, PowerKind::average, PowerKind::plain}) {
    for (const PowerScope scope : {PowerScope::gpu, PowerScope::module, PowerScope::memory}) {
      if (const std::optional<GpuFeature> feature = device::power_feature(kind, scope)) {
        features_.probe(*feature, power(kind, scope));
      }
    }
  }
  features_.set(GpuFeature::power_samples, probe_samples());
  features_.probe(GpuFeature::power_limits, power_limits().current);
  features_.probe(GpuFeature::clocks, clocks().sm);
  features_.probe(GpuFeature::supported_clocks, supported_memory_clocks());
  features_.probe(GpuFeature::locked_clocks, locked_clocks(ClockDomain::graphics));
  features_.probe(GpuFeature::temperature, temperature());
  features_.probe(GpuFeature::utilization, utilization());
  features_.probe(GpuFeature::throttle_reasons, throttle_reasons());
  features_.probe(GpuFeature::throttle_times, throttle_times().power_cap);
  features_.probe(GpuFeature::persistence_mode, persistence_mode());
  features_.probe(GpuFeature::processes, processes());
  features_.probe(GpuFeature::mig, mig());
}

Outcome NvmlGpu::probe_samples() const {
  std::vector<Stamped<Watts>> samples;
  return power_samples(library_->clock().now(), samples);
}

Reading<device::EnergyCounter> NvmlGpu::energy_counter() const {
  if (energy_source_ == EnergySource::none) {
    return no_energy_;
  }
  // Superchips have a sensor for their module, and count the whole module, including its CPU and memory.
  const bool superchip =
      features_.has(GpuFeature::module_instant_power) || features_.has(GpuFeature::module_average_power);
  return device::EnergyCounter{Millijoules{1}, std::nullopt, superchip ? PowerScope::module : PowerScope::gpu};
}

Reading<Stamped<Joules>> NvmlGpu::energy() const {
  return energy_source_ == EnergySource::none ? Reading<Stamped<Joules>>{no_energy_} : energy_from(energy_source_);
}

Reading<Stamped<Joules>> NvmlGpu::energy_from(EnergySource source) const {
  if (source == EnergySource::call) {
    return stamped(library_->clock(), [this]() -> Reading<Joules> {
      const auto millijoules = library_->ask<unsigned long long>(nvml().total_energy, handle_);
      return millijoules ? Reading<Joules>{Millijoules{static_cast<double>(*millijoules)}} : millijoules.failure();
    });
  }
  const std::uint32_t field = source == EnergySource::energy_field ? abi::field::energy : abi::field::total_energy;
  const Reading<Stamped<double>> millijoules = ask_field(*library_, handle_, field, abi::PowerScope::gpu);
  if (!millijoules) {
    return millijoules.failure();
  }
  return Stamped<Joules>{Millijoules{millijoules->value}, millijoules->at, millijoules->latency};
}

Reading<Stamped<Watts>> NvmlGpu::power(PowerKind kind, PowerScope scope) const {
  if (!device::power_feature(kind, scope)) {
    return Reason::unsupported;
  }
  if (kind == PowerKind::plain) {
    return stamped(library_->clock(), [this] { return watts(library_->ask<unsigned>(nvml().power_usage, handle_)); });
  }
  const std::uint32_t field = kind == PowerKind::instant ? abi::field::power_instant : abi::field::power_average;
  const Reading<Stamped<double>> milliwatts = ask_field(*library_, handle_, field, code_of(scope));
  if (!milliwatts) {
    return milliwatts.failure();
  }
  if (scope != PowerScope::gpu && milliwatts->value == 0) {
    return Failure{Reason::unsupported, "the driver answers zero, which means that there is no such sensor"};
  }
  return Stamped<Watts>{Milliwatts{milliwatts->value}, milliwatts->at, milliwatts->latency};
}

Outcome NvmlGpu::power_samples(Instant since, std::vector<Stamped<Watts>>& samples) const {
  if (nvml().samples == nullptr) {
    return call_missing;
  }
  const TwoClocks clocks{library_->clock()};
  const auto last_seen =
      static_cast<unsigned long long>(std::max<std::int64_t>(clocks.microseconds_since_epoch(since), 0));
  abi::ValueType type = abi::ValueType::uint32;
  unsigned count = 0;
  abi::Code code = nvml().samples(handle_, abi::SampleType::power, last_seen, &type, &count, nullptr);
  constexpr unsigned most_samples = 1U << 20;  // far beyond any driver's ring
  if (code == abi::Code::success && count > most_samples) {
    return Failure{Reason::unreliable, "the driver claims to keep more power samples than it can"};
  }
  std::vector<abi::Sample> ring(code == abi::Code::success ? count : 0);
  if (code == abi::Code::success && count > 0) {
    code = nvml().samples(handle_, abi::SampleType::power, last_seen, &type, &count, ring.data());
    ring.resize(std::min<std::size_t>(count, ring.size()));
  }
  if (code == abi::Code::not_found) {
    return device::done;  // nothing newer
  }
  if (code != abi::Code::success) {
    return Api::failure_of(code);
  }
  if (type != abi::ValueType::uint32) {
    return Failure{Reason::unreliable, "the driver returns samples of an undocumented type"};
  }
  std::ranges::sort(ring, {}, &abi::Sample::timestamp_us);
  for (const abi::Sample& sample : ring) {
    if (sample.timestamp_us > last_seen) {
      samples.push_back({Milliwatts{static_cast<double>(sample.value.uint32)},
                         clocks.instant(static_cast<std::int64_t>(sample.timestamp_us)), Seconds{0}});
    }
  }
  return device::done;
}

PowerLimits NvmlGpu::power_limits() const {
  PowerLimits limits;
  limits.current = watts(library_->ask<unsigned>(nvml().power_limit, handle_));
  limits.standard = watts(library_->ask<unsigned>(nvml().default_power_limit, handle_));
  limits.enforced = watts(library_->ask<unsigned>(nvml().enforced_power_limit, handle_));
  if (nvml().power_limit_range == nullptr) {
    limits.minimum = call_missing;
    limits.maximum = call_missing;
    return limits;
  }
  unsigned minimum = 0;
  unsigned maximum = 0;
  const abi::Code code = nvml().power_limit_range(handle_, &minimum, &maximum);
  limits.minimum = watts(code == abi::Code::success ? Reading<unsigned>{minimum} : Api::failure_of(code));
  limits.maximum = watts(code == abi::Code::success ? Reading<unsigned>{maximum} : Api::failure_of(code));
  return limits;
}

Reading<Megahertz> NvmlGpu::clock(abi::ClockType domain) const {
  return megahertz(library_->ask<unsigned>(nvml().clock, handle_, domain));
}

Reading<Megahertz> NvmlGpu::maximum_clock(abi::ClockType domain) const {
  return megahertz(library_->ask<unsigned>(nvml().maximum_clock, handle_, domain));
}

device::Clocks NvmlGpu::clocks() const {
  return {clock(abi::ClockType::graphics), clock(abi::ClockType::sm), clock(abi::ClockType::memory),
          maximum_clock(abi::ClockType::graphics), maximum_clock(abi::ClockType::memory)};
}

Reading<std::vector<Megahertz>> NvmlGpu::supported_memory_clocks() const {
  return list_clocks(nvml().supported_memory_clocks, handle_);
}

Reading<std::vector<Megahertz>> NvmlGpu::supported_graphics_clocks(Megahertz memory) const {
  return list_clocks(nvml().supported_graphics_clocks, handle_, whole_megahertz(memory));
}

Reading<std::optional<ClockRange>> NvmlGpu::locked_clocks(ClockDomain /*domain*/) const {
  return Failure{Reason::unsupported, "NVIDIA's library can lock clocks but does not report the range"};
}

Reading<Celsius> NvmlGpu::temperature() const {
  abi::Temperature answer;
  if (nvml().temperature != nullptr && nvml().temperature(handle_, &answer) == abi::Code::success) {
    return Celsius{static_cast<double>(answer.celsius)};
  }
  const Reading<unsigned> degrees =
      library_->ask<unsigned>(nvml().old_temperature, handle_, abi::TemperatureSensor::gpu);
  return degrees ? Reading<Celsius>{Celsius{static_cast<double>(*degrees)}} : degrees.failure();
}

Reading<device::Utilization> NvmlGpu::utilization() const {
  const Reading<abi::Utilization> percent = library_->ask<abi::Utilization>(nvml().utilization, handle_);
  if (!percent) {
    return percent.failure();
  }
  return device::Utilization{percent->gpu / 100.0, percent->memory / 100.0};
}

Reading<ThrottleReasons> NvmlGpu::throttle_reasons() const {
  const Reading<unsigned long long> bits = library_->ask<unsigned long long>(nvml().throttle_reasons, handle_);
  if (!bits) {
    return bits.failure();
  }
  // The two enumerations agree bit for bit in all named bits; bits that a newer driver adds are left out.
  return ThrottleReasons{static_cast<std::uint32_t>(*bits) & 0x1FFU};
}

Reading<Seconds> NvmlGpu::throttled_for(std::uint32_t field) const {
  const Reading<Stamped<double>> nanoseconds = ask_field(*library_, handle_, field, abi::PowerScope::gpu);
  return nanoseconds ? Reading<Seconds>{Seconds{nanoseconds->value * 1e-9}} : nanoseconds.failure();
}

device::ThrottleTimes NvmlGpu::throttle_times() const {
  return {library_->clock().now(),
          throttled_for(abi::field::policy_power),
          throttled_for(abi::field::policy_sync_boost),
          throttled_for(abi::field::software_thermal_slowdown),
          throttled_for(abi::field::hardware_thermal_slowdown),
          throttled_for(abi::field::hardware_power_brake)};
}

Reading<bool> NvmlGpu::persistence_mode() const {
  const Reading<unsigned> enabled = library_->ask<unsigned>(nvml().persistence_mode, handle_);
  return enabled ? Reading<bool>{*enabled != 0} : enabled.failure();
}

Outcome NvmlGpu::reopen() {
  if (Outcome outcome = library_->reopen(generation_); !outcome) {
    return outcome;
  }
  const Reading<abi::Device*> handle = [&]() -> Reading<abi::Device*> {
    abi::Device* found = nullptr;
    const abi::Code code = nvml().device_by_uuid != nullptr
                               ? nvml().device_by_uuid(identity_.uuid.c_str(), &found)
                               : nvml().device_by_index(static_cast<unsigned>(identity_.index), &found);
    return code == abi::Code::success ? Reading<abi::Device*>{found} : Api::failure_of(code);
  }();
  if (!handle) {
    return handle.failure();
  }
  handle_ = *handle;
  generation_ = library_->generation();
  probe();
  return device::done;
}

Outcome NvmlGpu::set_power_limit(Watts limit) {
  const double milliwatts = Milliwatts{limit}.value();
  if (!(milliwatts >= 0 && milliwatts <= 1e9)) {
    return Reason::out_of_range;
  }
  return library_->tell(nvml().set_power_limit, handle_, static_cast<unsigned>(std::lround(milliwatts)));
}

Outcome NvmlGpu::lock_clocks(ClockDomain domain, ClockRange range) {
  return library_->tell(domain == ClockDomain::memory ? nvml().lock_memory_clocks : nvml().lock_graphics_clocks,
                        handle_, whole_megahertz(range.minimum), whole_megahertz(range.maximum));
}

Outcome NvmlGpu::reset_clocks(ClockDomain domain) {
  return library_->tell(domain == ClockDomain::memory ? nvml().reset_memory_clocks : nvml().reset_graphics_clocks,
                        handle_);
}

Outcome NvmlGpu::set_persistence_mode(bool enabled) {
  return library_->tell(nvml().set_persistence_mode, handle_, enabled ? 1U : 0U);
}

}  // namespace zeus::backends::nvml
