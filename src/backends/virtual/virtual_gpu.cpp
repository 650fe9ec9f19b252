#include "backends/virtual/virtual_gpu.hpp"

#include "physics/sensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace zeus::backends::virtual_gpu {

using device::Stamped;

namespace {

device::GpuIdentity make_identity(const physics::GpuModel& model, int index) {
  return {.vendor = GpuVendor::nvidia,
          .uuid = fmt::format("GPU-00000000-0000-4000-8000-{:012x}", index + 1),
          .pci = {.domain = 0, .bus = static_cast<std::uint32_t>(index) + 1, .device = 0, .function = 0},
          .index = index,
          .name = std::string{model.product()},
          .driver = "virtual",
          .relative_speed = model.clocks.max.value()};
}

// Counters show whole millijoules, and readings whole milliwatts, as NVML's do.
constexpr Joules counter_step{0.001};

Joules whole_millijoules(Joules energy) {
  return Joules{std::floor(energy.value() * 1e3) * 1e-3};
}

Watts whole_milliwatts(Watts power) {
  return Watts{std::round(power.value() * 1e3) * 1e-3};
}

ThrottleReasons reasons_of(const physics::OperatingPoint& point) {
  constexpr std::array<std::pair<physics::Throttle, ThrottleReason>, 4> names{{
      {physics::Throttle::idle, ThrottleReason::idle},
      {physics::Throttle::power_cap, ThrottleReason::power_cap},
      {physics::Throttle::thermal, ThrottleReason::software_thermal},
      {physics::Throttle::locked_clock, ThrottleReason::application_clocks},
  }};
  ThrottleReasons reasons;
  for (const auto& [ours, theirs] : names) {
    if (point.held_by(ours)) {
      reasons.add(theirs);
    }
  }
  return reasons;
}

}  // namespace

VirtualGpu::VirtualGpu(std::shared_ptr<Host> host, const physics::GpuModel& model, int index)
    : host_{std::move(host)},
      model_{model},
      identity_{make_identity(model, index)},
      generation_{host_->generation},
      state_{std::make_unique<physics::GpuState>()} {
  gpu().start(host_->clock.now());
  probe();
}

// Readings bring the state up to date, but that changes none of them; so the state does not count as part of the value.
VirtualGpu::Call VirtualGpu::begin_call() const {
  Call call{.lock = std::unique_lock{mutex_}, .now = host_->clock.now()};
  if (faults_.slowness > Seconds{0}) {
    const Instant until = call.now + faults_.slowness;
    call.lock.unlock();
    host_->clock.sleep_until(until);
    call.lock.lock();
    call.now = host_->clock.now();
  }
  gpu().advance(call.now);
  return call;
}

std::optional<Failure> VirtualGpu::refusal(const std::optional<Reason>& reason) const {
  return reason ? std::optional{Failure{*reason, "a fault injected into a virtual GPU"}} : std::nullopt;
}

template <typename T, typename Read>
Reading<T> VirtualGpu::read(Read&& value) const {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.reading)) {
    return *failure;
  }
  return std::forward<Read>(value)(call.now);
}

Reading<device::EnergyCounter> VirtualGpu::energy_counter() const {
  return read<device::EnergyCounter>([&](Instant) -> Reading<device::EnergyCounter> {
    if (!model_.sensors.counter_present) {
      return Reason::unsupported;
    }
    device::EnergyCounter counter{.resolution = counter_step};
    if (const Joules wrap = gpu().counter().wrap; wrap > Joules{0}) {
      counter.wraps_at = wrap;
    }
    return counter;
  });
}

Reading<Stamped<Joules>> VirtualGpu::energy() const {
  return read<Stamped<Joules>>([&](Instant now) -> Reading<Stamped<Joules>> {
    const physics::Gpu card = gpu();
    const auto reading = physics::Sensors{card}.counter(now);
    if (!reading) {
      return Reason::unsupported;
    }
    return Stamped<Joules>{.value = whole_millijoules(reading->value), .at = now, .latency = faults_.slowness};
  });
}

Reading<Stamped<Watts>> VirtualGpu::power(PowerKind kind, PowerScope scope) const {
  return read<Stamped<Watts>>([&](Instant now) -> Reading<Stamped<Watts>> {
    const physics::Gpu card = gpu();
    const physics::Sensors sensors{card};
    std::optional<physics::PowerReading> reading;
    if (scope == PowerScope::gpu) {
      reading = kind == PowerKind::instant   ? sensors.instant(now)
                : kind == PowerKind::average ? sensors.average(now)
                                             : sensors.power(now);
    }
    if (!reading) {
      return Reason::unsupported;
    }
    return Stamped<Watts>{.value = whole_milliwatts(reading->value), .at = now, .latency = faults_.slowness};
  });
}

device::Outcome VirtualGpu::power_samples(Instant since, std::vector<Stamped<Watts>>& samples) const {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.reading)) {
    return *failure;
  }
  if (model_.sensors.sample_depth == 0) {
    return Reason::unsupported;
  }
  std::vector<physics::PowerReading> ring(model_.sensors.sample_depth);
  const physics::Gpu card = gpu();
  ring.resize(physics::Sensors{card}.samples(call.now, since, ring));
  for (const physics::PowerReading& sample : ring) {
    samples.push_back({.value = whole_milliwatts(sample.value), .at = sample.updated, .latency = {}});
  }
  return device::done;
}

PowerLimits VirtualGpu::power_limits() const {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.reading)) {
    return {.current = *failure, .standard = *failure, .minimum = *failure, .maximum = *failure, .enforced = *failure};
  }
  const physics::Controls controls = gpu().controls();
  return {.current = controls.requested_limit,
          .standard = model_.limits.default_limit,
          .minimum = model_.limits.min,
          .maximum = model_.limits.max,
          .enforced = controls.enforced_limit()};
}

device::Clocks VirtualGpu::clocks() const {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.reading)) {
    return {*failure, *failure, *failure, *failure, *failure};
  }
  const physics::OperatingPoint point = gpu().operating_point(call.now);
  return {.graphics = point.sm_clock,
          .sm = point.sm_clock,
          .memory = point.memory_clock,
          .maximum_graphics = model_.clocks.max,
          .maximum_memory = model_.clocks.memory};
}

Reading<std::vector<Megahertz>> VirtualGpu::supported_memory_clocks() const {
  return read<std::vector<Megahertz>>([&](Instant) {
    std::vector<Megahertz> clocks{model_.clocks.memory};
    if (model_.clocks.memory_idle != model_.clocks.memory) {
      clocks.push_back(model_.clocks.memory_idle);
    }
    return clocks;
  });
}

Reading<std::vector<Megahertz>> VirtualGpu::supported_graphics_clocks(Megahertz memory) const {
  return read<std::vector<Megahertz>>([&](Instant) -> Reading<std::vector<Megahertz>> {
    if (memory != model_.clocks.memory && memory != model_.clocks.memory_idle) {
      return Reason::out_of_range;
    }
    std::vector<Megahertz> clocks;
    for (Megahertz clock = model_.clocks.max; clock >= model_.clocks.min; clock -= model_.clocks.step) {
      clocks.push_back(clock);
    }
    return clocks;
  });
}

Reading<std::optional<ClockRange>> VirtualGpu::locked_clocks(ClockDomain domain) const {
  using Locked = std::optional<ClockRange>;
  return read<Locked>([&](Instant) -> Reading<Locked> {
    if (!locks_clocks() || domain == ClockDomain::memory) {
      return Reason::unsupported;
    }
    const physics::Controls controls = gpu().controls();
    return controls.clocks_locked ? Locked{{.minimum = controls.lock_min, .maximum = controls.lock_max}} : Locked{};
  });
}

Reading<Celsius> VirtualGpu::temperature() const {
  return read<Celsius>([&](Instant now) { return Celsius{std::round(gpu().temperature(now).value())}; });
}

Reading<device::Utilization> VirtualGpu::utilization() const {
  return read<device::Utilization>([&](Instant now) {
    const physics::OperatingPoint point = gpu().operating_point(now);
    return device::Utilization{.gpu = point.gpu_utilization, .memory = point.memory_utilization};
  });
}

Reading<ThrottleReasons> VirtualGpu::throttle_reasons() const {
  return read<ThrottleReasons>([&](Instant now) { return reasons_of(gpu().operating_point(now)); });
}

device::ThrottleTimes VirtualGpu::throttle_times() const {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.reading)) {
    return {.at = call.now,
            .power_cap = *failure,
            .sync_boost = *failure,
            .software_thermal = *failure,
            .hardware_thermal = *failure,
            .power_brake = *failure};
  }
  const physics::Totals totals = gpu().totals(call.now);
  return {.at = call.now,
          .power_cap = totals.capped,
          .sync_boost = Seconds{0},
          .software_thermal = totals.throttled,
          .hardware_thermal = Seconds{0},
          .power_brake = Seconds{0}};
}

Reading<bool> VirtualGpu::persistence_mode() const {
  return read<bool>([&](Instant) { return persistence_mode_; });
}

Reading<std::vector<device::GpuProcess>> VirtualGpu::processes() const {
  return read<std::vector<device::GpuProcess>>([&](Instant) { return processes_; });
}

Reading<device::MigState> VirtualGpu::mig() const {
  return read<device::MigState>([&](Instant) -> Reading<device::MigState> {
    const bool capable =
        model_.architecture == physics::Architecture::ga100 || model_.architecture == physics::Architecture::hopper;
    return capable ? Reading<device::MigState>{device::MigState{}} : Reading<device::MigState>{Reason::unsupported};
  });
}

device::Outcome VirtualGpu::reopen() {
  {
    const Call call = begin_call();
    if (faults_.reading == Reason::lost) {
      return *refusal(faults_.reading);
    }
    // The first device to be reopened reopens the host, for all devices.
    std::uint64_t expected = generation_;
    host_->generation.compare_exchange_strong(expected, generation_ + 1);
    generation_ = host_->generation;
  }
  probe();
  return device::done;
}

device::Outcome VirtualGpu::set_power_limit(Watts limit) {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.setting)) {
    return *failure;
  }
  if (!(limit >= model_.limits.min && limit <= model_.limits.max)) {
    return Reason::out_of_range;
  }
  physics::Controls controls = gpu().controls();
  controls.requested_limit = whole_milliwatts(limit);
  gpu().set_controls(call.now, controls);
  return device::done;
}

device::Outcome VirtualGpu::lock_clocks(ClockDomain domain, ClockRange range) {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.setting)) {
    return *failure;
  }
  if (!locks_clocks() || domain == ClockDomain::memory) {
    return Reason::unsupported;
  }
  if (!(range.minimum <= range.maximum && range.minimum >= model_.clocks.min && range.maximum <= model_.clocks.max)) {
    return Reason::out_of_range;
  }
  physics::Controls controls = gpu().controls();
  controls.clocks_locked = true;
  controls.lock_min = range.minimum;
  controls.lock_max = range.maximum;
  gpu().set_controls(call.now, controls);
  return device::done;
}

device::Outcome VirtualGpu::reset_clocks(ClockDomain domain) {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.setting)) {
    return *failure;
  }
  if (!locks_clocks() || domain == ClockDomain::memory) {
    return Reason::unsupported;
  }
  physics::Controls controls = gpu().controls();
  controls.clocks_locked = false;
  gpu().set_controls(call.now, controls);
  return device::done;
}

device::Outcome VirtualGpu::set_persistence_mode(bool enabled) {
  const Call call = begin_call();
  if (const auto failure = refusal(faults_.setting)) {
    return *failure;
  }
  persistence_mode_ = enabled;
  return device::done;
}

void VirtualGpu::probe() {
  using device::GpuFeature;
  for (const auto& [kind, scope] :
       {std::pair{PowerKind::instant, PowerScope::gpu}, std::pair{PowerKind::average, PowerScope::gpu},
        std::pair{PowerKind::plain, PowerScope::gpu}}) {
    features_.probe(*device::power_feature(kind, scope), power(kind, scope));
  }
  std::vector<Stamped<Watts>> samples;
  features_.probe(GpuFeature::energy_counter, energy());
  features_.probe(GpuFeature::power_samples, power_samples(host_->clock.now(), samples));
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

}  // namespace zeus::backends::virtual_gpu
