#include "backends/zeusd/zeusd_cpu.hpp"

#include <utility>

namespace zeus::backends::zeusd {

using device::CpuDomain;
using device::EnergyCounter;

namespace {

// The daemon counts microjoules in 64 bits.
constexpr Joules end_of_counting{18446744073709.551615};

}  // namespace

ZeusdCpu::ZeusdCpu(std::shared_ptr<DaemonLink> link, std::shared_ptr<Openings> openings, device::CpuIdentity identity,
                   std::uint32_t number)
    : link_{std::move(link)},
      openings_{std::move(openings)},
      identity_{std::move(identity)},
      number_{number},
      opened_{openings_->count} {
}

Reading<protocol::CpuCounterReading> ZeusdCpu::read(CpuDomain domain) const {
  try {
    const protocol::CpuReadings all = link_->read_cpu(number_);
    protocol::CpuCounterReading its = domain == CpuDomain::package ? all.package : all.dram;
    if (its.began_ns) {
      std::atomic<std::int64_t>& began = began_.at(static_cast<std::size_t>(domain));
      const std::int64_t before = began.exchange(*its.began_ns);
      if (before != 0 && before != *its.began_ns) {
        ++changes_;
      }
    }
    return its;
  } catch (const Error& error) {
    return failure_of(error);
  } catch (const std::exception&) {
    return Failure{Reason::unknown, "zeusd could not be asked"};
  }
}

Reading<EnergyCounter> ZeusdCpu::energy_counter(CpuDomain domain) const {
  const Reading<protocol::CpuCounterReading> its = read(domain);
  if (!its || !its->counter) {
    return its ? Reading<EnergyCounter>{its->energy.reason.value_or(Reason::unsupported)}
               : Reading<EnergyCounter>{its.failure()};
  }
  EnergyCounter counter = its->counter->counter();
  counter.wraps_at = counter.wraps_at.value_or(end_of_counting);
  return counter;
}

Reading<device::Stamped<Joules>> ZeusdCpu::energy(CpuDomain domain) const {
  const Reading<protocol::CpuCounterReading> its = read(domain);
  return its ? its->energy.stamped() : Reading<device::Stamped<Joules>>{its.failure()};
}

device::Outcome ZeusdCpu::reopen() {
  if (opened_ == openings_->count) {
    try {
      link_->discover_in_passing();
    } catch (const Error& error) {
      return failure_of(error);
    }
    ++openings_->count;
  }
  opened_ = openings_->count;
  return device::done;
}

}  // namespace zeus::backends::zeusd
