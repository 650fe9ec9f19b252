#include "backends/amdsmi/amdsmi_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

namespace zeus::backends::amdsmi {

using device::GpuFeature;
using device::Outcome;
using device::Stamped;

namespace {

constexpr Failure no_sensor{Reason::unsupported, "the power sensor shows no value, as on a module's second die"};

abi::ClockType code_of(ClockDomain domain) {
  return domain == ClockDomain::memory ? abi::ClockType::memory : abi::ClockType::graphics;
}

// Numbers of 16 and of 32 bits differ only in their value for "not available".
std::optional<std::uint32_t> available(std::uint32_t number) {
  return number == abi::not_available_16 || number == abi::not_available_32 ? std::nullopt : std::optional{number};
}

Reading<Watts> microwatts(const Reading<abi::PowerCap>& cap, std::uint64_t abi::PowerCap::*member) {
  return cap ? Reading<Watts>{Watts{static_cast<double>((*cap).*member) * 1e-6}} : cap.failure();
}

Reading<Megahertz> megahertz(const Reading<abi::ClockInfo>& info, std::uint32_t abi::ClockInfo::*member) {
  if (!info) {
    return info.failure();
  }
  const std::optional<std::uint32_t> clock = available((*info).*member);
  return clock ? Reading<Megahertz>{Megahertz{static_cast<double>(*clock)}} : Reading<Megahertz>{Reason::unsupported};
}

}  // namespace

device::PciAddress address_of(AmdsmiLibrary& library, abi::Processor* processor) {
  std::uint64_t bits = 0;
  library.call(library.functions().bdf, processor, &bits);
  const auto part = [bits](unsigned shift, std::uint64_t mask) {
    return static_cast<std::uint32_t>((bits >> shift) & mask);
  };
  return {part(16, 0xFFFFFFFF), part(8, 0xFF), part(3, 0x1F), part(0, 0x7)};
}

AmdsmiGpu::AmdsmiGpu(std::shared_ptr<AmdsmiLibrary> library, abi::Processor* handle, device::GpuIdentity identity)
    : library_{std::move(library)},
      handle_{handle},
      identity_{std::move(identity)},
      generation_{library_->generation()} {
  probe();
}

void AmdsmiGpu::disbelieve_counter(Failure why) {
  disbelief_ = why;
  features_.set(GpuFeature::energy_counter, why);
}

void AmdsmiGpu::probe() {
  features_.probe(GpuFeature::energy_counter, energy());
  for (const PowerKind kind : {PowerKind::instant, PowerKind::average}) {
    features_.probe(*device::power_feature(kind, PowerScope::gpu), power(kind, PowerScope::gpu));
  }
  features_.probe(GpuFeature::power_limits, power_limits().current);
  features_.probe(GpuFeature::clocks, clocks().sm);
  features_.probe(GpuFeature::supported_clocks, supported_memory_clocks());
  features_.probe(GpuFeature::temperature, temperature());
  features_.probe(GpuFeature::utilization, utilization());
  features_.probe(GpuFeature::processes, processes());
}

Reading<AmdsmiGpu::Count> AmdsmiGpu::count() const {
  if (amdsmi().energy_count == nullptr) {
    return call_missing;
  }
  Joules resolution;
  const Reading<Stamped<Joules>> energy = stamped(library_->clock(), [&]() -> Reading<Joules> {
    std::uint64_t counted = 0;
    float microjoules = 0;
    std::uint64_t timestamp = 0;  // on the device's clock, not on ours
    const abi::Code code = library_->call(amdsmi().energy_count, handle_, &counted, &microjoules, &timestamp);
    if (code != abi::Code::success) {
      return Api::failure_of(code);
    }
    resolution = Joules{static_cast<double>(microjoules) * 1e-6};
    return resolution * static_cast<double>(counted);
  });
  return energy ? Reading<Count>{Count{*energy, resolution}} : energy.failure();
}

Reading<device::EnergyCounter> AmdsmiGpu::energy_counter() const {
  if (disbelief_) {
    return *disbelief_;
  }
  const Reading<Count> counted = count();
  if (!counted) {
    return counted.failure();
  }
  return device::EnergyCounter{counted->resolution, std::nullopt, PowerScope::gpu};
}

Reading<Stamped<Joules>> AmdsmiGpu::energy() const {
  if (disbelief_) {
    return *disbelief_;
  }
  const Reading<Count> counted = count();
  return counted ? Reading<Stamped<Joules>>{counted->energy} : counted.failure();
}

Reading<Stamped<Watts>> AmdsmiGpu::power(PowerKind kind, PowerScope scope) const {
  if (kind == PowerKind::plain || scope != PowerScope::gpu) {
    return Reason::unsupported;
  }
  return stamped(library_->clock(), [&]() -> Reading<Watts> {
    const Reading<abi::PowerInfo> info = library_->ask<abi::PowerInfo>(amdsmi().power_info, handle_);
    if (!info) {
      return info.failure();
    }
    constexpr std::uint32_t first_with_socket_power = 25;
    abi::PowerInfo24 socket{info->current_socket_power, info->average_socket_power};
    if (library_->version().major < first_with_socket_power) {
      std::memcpy(&socket, &*info, sizeof(socket));
    }
    const std::optional<std::uint32_t> watts =
        available(kind == PowerKind::instant ? socket.current_socket_power : socket.average_socket_power);
    if (!watts || *watts == 0) {
      return watts ? no_sensor : Failure{Reason::unsupported, {}};
    }
    return Watts{static_cast<double>(*watts)};
  });
}

PowerLimits AmdsmiGpu::power_limits() const {
  constexpr std::uint32_t whole_socket = 0;
  const Reading<abi::PowerCap> cap = library_->ask<abi::PowerCap>(amdsmi().power_cap, handle_, whole_socket);
  PowerLimits limits;
  limits.current = microwatts(cap, &abi::PowerCap::cap);
  limits.standard = microwatts(cap, &abi::PowerCap::standard);
  limits.minimum = microwatts(cap, &abi::PowerCap::min);
  limits.maximum = microwatts(cap, &abi::PowerCap::max);
  limits.enforced = limits.current;  // the driver keeps one limit: what was requested is enforced
  return limits;
}

device::Clocks AmdsmiGpu::clocks() const {
  const Reading<abi::ClockInfo> graphics =
      library_->ask<abi::ClockInfo>(amdsmi().clock_info, handle_, abi::ClockType::graphics);
  const Reading<abi::ClockInfo> memory =
      library_->ask<abi::ClockInfo>(amdsmi().clock_info, handle_, abi::ClockType::memory);
  return {megahertz(graphics, &abi::ClockInfo::current), megahertz(graphics, &abi::ClockInfo::current),
          megahertz(memory, &abi::ClockInfo::current), megahertz(graphics, &abi::ClockInfo::max),
          megahertz(memory, &abi::ClockInfo::max)};
}

Reading<std::vector<Megahertz>> AmdsmiGpu::supported_clocks(abi::ClockType domain) const {
  const Reading<abi::Frequencies> frequencies = library_->ask<abi::Frequencies>(amdsmi().frequencies, handle_, domain);
  if (!frequencies) {
    return frequencies.failure();
  }
  const std::size_t count = std::min<std::size_t>(frequencies->count, std::size(frequencies->hertz));
  std::vector<Megahertz> clocks;
  std::transform(frequencies->hertz, frequencies->hertz + count, std::back_inserter(clocks),
                 [](std::uint64_t hertz) { return Hertz{static_cast<double>(hertz)}; });
  std::ranges::sort(clocks, std::greater<>{});
  return clocks;
}

Reading<std::vector<Megahertz>> AmdsmiGpu::supported_memory_clocks() const {
  return supported_clocks(abi::ClockType::memory);
}

Reading<std::vector<Megahertz>> AmdsmiGpu::supported_graphics_clocks(Megahertz memory) const {
  const Reading<std::vector<Megahertz>> known = supported_memory_clocks();
  if (known && std::ranges::find(*known, memory) == known->end()) {
    return Failure{Reason::out_of_range, "memory does not run at this clock"};
  }
  return supported_clocks(abi::ClockType::graphics);
}

Reading<Celsius> AmdsmiGpu::temperature() const {
  const Reading<std::int64_t> degrees =
      library_->ask<std::int64_t>(amdsmi().temperature, handle_, abi::temperature_hotspot, abi::temperature_is_current);
  if (!degrees) {
    return degrees.failure();
  }
  // Versions differ in the unit. No GPU is at a thousand degrees, and none runs below one degree.
  constexpr std::int64_t hottest = 1000;
  return Celsius{static_cast<double>(*degrees) / (*degrees > hottest ? 1000.0 : 1.0)};
}

Reading<device::Utilization> AmdsmiGpu::utilization() const {
  const Reading<abi::EngineUsage> usage = library_->ask<abi::EngineUsage>(amdsmi().activity, handle_);
  if (!usage) {
    return usage.failure();
  }
  const std::optional<std::uint32_t> graphics = available(usage->graphics);
  const std::optional<std::uint32_t> memory = available(usage->memory);
  if (!graphics || !memory) {
    return Reason::unsupported;
  }
  return device::Utilization{std::min(*graphics, 100U) / 100.0, std::min(*memory, 100U) / 100.0};
}

Reading<std::vector<device::GpuProcess>> AmdsmiGpu::processes() const {
  if (amdsmi().process_list == nullptr) {
    return call_missing;
  }
  constexpr std::uint32_t most = 1024;
  std::vector<abi::Process> entries(most);
  std::uint32_t count = most;
  if (const abi::Code code = library_->call(amdsmi().process_list, handle_, &count, entries.data());
      code != abi::Code::success) {
    return Api::failure_of(code);
  }
  entries.resize(std::min(count, most));
  std::vector<device::GpuProcess> processes;
  std::ranges::transform(entries, std::back_inserter(processes), [](const abi::Process& entry) {
    device::GpuProcess process;
    process.pid = entry.pid;
    process.memory_bytes = entry.memory;
    return process;
  });
  return processes;
}

Outcome AmdsmiGpu::reopen() {
  if (Outcome outcome = library_->reopen(generation_); !outcome) {
    return outcome;
  }
  const std::vector<abi::Processor*> present = library_->gpus();
  const auto same = std::ranges::find_if(
      present, [&](abi::Processor* processor) { return address_of(*library_, processor) == identity_.pci; });
  if (same == present.end()) {
    return Api::failure_of(abi::Code::not_found);
  }
  handle_ = *same;
  generation_ = library_->generation();
  probe();
  return device::done;
}

Outcome AmdsmiGpu::set_power_limit(Watts limit) {
  const PowerLimits limits = power_limits();
  if (!(limit.value() >= 0) || limit < limits.minimum.optional().value_or(limit) ||
      limit > limits.maximum.optional().value_or(limit)) {
    return Reason::out_of_range;  // some versions accept anything and clamp it silently
  }
  constexpr std::uint32_t whole_socket = 0;
  const auto microwatts_asked = static_cast<std::uint64_t>(std::llround(limit.value() * 1e6));
  return library_->tell(amdsmi().set_power_cap, handle_, whole_socket, microwatts_asked);
}

Outcome AmdsmiGpu::lock_clocks(ClockDomain domain, ClockRange range) {
  return library_->tell(amdsmi().set_clock_range, handle_, whole_megahertz(range.minimum),
                        whole_megahertz(range.maximum), code_of(domain));
}

Outcome AmdsmiGpu::reset_clocks(ClockDomain /*domain*/) {
  return library_->tell(amdsmi().set_level, handle_, abi::level_automatic);
}

}  // namespace zeus::backends::amdsmi
