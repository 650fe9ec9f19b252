#include "backends/zeusd/zeusd_gpu.hpp"

#include <algorithm>
#include <utility>

namespace zeus::backends::zeusd {

using device::GpuFeature;
using device::Outcome;
using device::Stamped;
using protocol::GpuParts;
using protocol::GpuReadings;

ZeusdGpu::ZeusdGpu(std::shared_ptr<DaemonLink> link, std::shared_ptr<Openings> openings, device::GpuIdentity identity,
                   std::uint32_t number)
    : link_{std::move(link)}, openings_{std::move(openings)}, identity_{std::move(identity)}, number_{number} {
  opened_ = openings_->count;
  probe();
}

Reading<GpuReadings> ZeusdGpu::read(std::uint32_t parts) const {
  try {
    GpuReadings readings = link_->read_gpu(number_, parts);
    const std::uint64_t before = told_generation_.exchange(readings.generation);
    if (before != 0 && before != readings.generation) {
      ++changes_;
    }
    return readings;
  } catch (const Error& error) {
    return failure_of(error);
  } catch (const std::exception&) {
    return Failure{Reason::unknown, "zeusd could not be asked"};
  }
}

namespace {

// One part of a reading, or the reason why there is none.
template <typename Part>
auto part_of(const Reading<GpuReadings>& readings, const Part& part) -> decltype(part(*readings)) {
  return readings ? part(*readings) : decltype(part(*readings)){readings.failure()};
}

}  // namespace

void ZeusdGpu::probe() {
  device::GpuFeatures features;
  const Reading<GpuReadings> all = read(GpuParts::usual | GpuParts::supported_clocks);
  const auto probe_one = [&](GpuFeature feature, const auto& part) { features.probe(feature, part_of(all, part)); };
  probe_one(GpuFeature::energy_counter, [](const GpuReadings& it) { return it.energy.reading(); });
  probe_one(GpuFeature::power_limits, [](const GpuReadings& it) { return it.limits.current.reading(); });
  probe_one(GpuFeature::clocks, [](const GpuReadings& it) { return it.clocks.sm.reading(); });
  probe_one(GpuFeature::supported_clocks, [](const GpuReadings& it) {
    return it.supported_clocks ? Reading<bool>{true} : Reading<bool>{Reason::unsupported};
  });
  probe_one(GpuFeature::temperature, [](const GpuReadings& it) { return it.temperature.reading(); });
  probe_one(GpuFeature::utilization, [](const GpuReadings& it) { return it.utilization.reading(); });
  probe_one(GpuFeature::throttle_reasons, [](const GpuReadings& it) { return it.throttle.reading(); });
  probe_one(GpuFeature::throttle_times, [](const GpuReadings& it) { return it.throttle_times.power_cap.reading(); });
  probe_one(GpuFeature::persistence_mode, [](const GpuReadings& it) { return it.persistence_mode.reading(); });
  if (all) {
    for (const protocol::ReportedPower& one : all->power) {
      if (const std::optional<GpuFeature> feature = device::power_feature(one.kind, one.scope)) {
        features.probe(*feature, one.power.reading());
      }
    }
    for (const protocol::ReportedLock& lock : all->locks) {
      if (lock.domain == ClockDomain::graphics) {
        features.probe(GpuFeature::locked_clocks, lock.state.reading());
      }
    }
  }
  features_ = features;
  counter_ = part_of(all, [](const GpuReadings& it) {
    return it.counter ? Reading<device::EnergyCounter>{it.counter->counter()}
                      : Reading<device::EnergyCounter>{it.energy.reason.value_or(Reason::unsupported)};
  });
}

Reading<device::EnergyCounter> ZeusdGpu::energy_counter() const {
  return counter_;
}

Reading<Stamped<Joules>> ZeusdGpu::energy() const {
  return part_of(read(GpuParts::energy), [](const GpuReadings& it) { return it.energy.stamped(); });
}

Reading<Stamped<Watts>> ZeusdGpu::power(PowerKind kind, PowerScope scope) const {
  const std::optional<GpuFeature> feature = device::power_feature(kind, scope);
  if (!feature || (!features_.has(*feature) && features_[*feature].failure().reason == Reason::unsupported)) {
    return Reason::unsupported;
  }
  return part_of(read(GpuParts::power), [&](const GpuReadings& it) {
    const auto found =
        std::ranges::find_if(it.power, [&](const auto& one) { return one.kind == kind && one.scope == scope; });
    return found == it.power.end() ? Reading<Stamped<Watts>>{Reason::unsupported} : found->power.stamped();
  });
}

PowerLimits ZeusdGpu::power_limits() const {
  const Reading<GpuReadings> all = read(GpuParts::limits);
  if (!all) {
    const Failure why = all.failure();
    return {why, why, why, why, why};
  }
  return all->limits.limits();
}

device::Clocks ZeusdGpu::clocks() const {
  const Reading<GpuReadings> all = read(GpuParts::clocks);
  if (!all) {
    const Failure why = all.failure();
    return {why, why, why, why, why};
  }
  return all->clocks.clocks();
}

Reading<std::vector<Megahertz>> ZeusdGpu::supported_memory_clocks() const {
  return part_of(read(GpuParts::supported_clocks), [](const GpuReadings& it) -> Reading<std::vector<Megahertz>> {
    if (!it.supported_clocks) {
      return Reason::unsupported;
    }
    std::vector<Megahertz> memory;
    for (const protocol::SupportedClocks& one : *it.supported_clocks) {
      memory.push_back(one.memory);
    }
    return memory;
  });
}

Reading<std::vector<Megahertz>> ZeusdGpu::supported_graphics_clocks(Megahertz memory) const {
  return part_of(read(GpuParts::supported_clocks), [memory](const GpuReadings& it) -> Reading<std::vector<Megahertz>> {
    if (!it.supported_clocks) {
      return Reason::unsupported;
    }
    const auto found = std::ranges::find(*it.supported_clocks, memory, &protocol::SupportedClocks::memory);
    if (found == it.supported_clocks->end()) {
      return Failure{Reason::out_of_range, "memory does not run at this clock"};
    }
    return found->graphics;
  });
}

Reading<std::optional<ClockRange>> ZeusdGpu::locked_clocks(ClockDomain domain) const {
  return part_of(read(GpuParts::clocks), [&](const GpuReadings& it) {
    const auto lock = std::ranges::find(it.locks, domain, &protocol::ReportedLock::domain);
    return lock == it.locks.end()
               ? Reading<std::optional<ClockRange>>{Reason::unsupported}
               : lock->state.reading().transform([](const protocol::LockState& state) { return state.range; });
  });
}

Reading<Celsius> ZeusdGpu::temperature() const {
  return part_of(read(GpuParts::state), [](const GpuReadings& it) { return it.temperature.reading(); });
}

Reading<device::Utilization> ZeusdGpu::utilization() const {
  return part_of(read(GpuParts::state), [](const GpuReadings& it) {
    return it.utilization.reading().transform([](const protocol::ReportedUtilization& used) {
      return device::Utilization{.gpu = used.gpu, .memory = used.memory};
    });
  });
}

Reading<ThrottleReasons> ZeusdGpu::throttle_reasons() const {
  return part_of(read(GpuParts::state), [](const GpuReadings& it) {
    return it.throttle.reading().transform([](const protocol::ReportedThrottle& told) { return told.reasons; });
  });
}

device::ThrottleTimes ZeusdGpu::throttle_times() const {
  const Reading<GpuReadings> all = read(GpuParts::state);
  if (!all) {
    const Failure why = all.failure();
    return {link_->clock().now(), why, why, why, why, why};
  }
  return all->throttle_times.times();
}

Reading<bool> ZeusdGpu::persistence_mode() const {
  return part_of(read(GpuParts::persistence), [](const GpuReadings& it) { return it.persistence_mode.reading(); });
}

Outcome ZeusdGpu::reopen() {
  if (opened_ == openings_->count) {
    try {
      link_->discover_in_passing();
    } catch (const Error& error) {
      return failure_of(error);
    }
    ++openings_->count;
  }
  if (const std::optional<std::uint32_t> number = link_->gpu_number(identity_.uuid)) {
    number_ = *number;  // a daemon that was restarted may number them differently
  }
  opened_ = openings_->count;
  probe();
  return device::done;
}

std::uint64_t ZeusdGpu::generation() const {
  return opened_ + changes_;
}

}  // namespace zeus::backends::zeusd
