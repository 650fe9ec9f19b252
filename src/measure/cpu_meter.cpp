#include "measure/cpu_meter.hpp"

#include "measure/counter_gain.hpp"

namespace zeus::measure {

namespace {

// The smallest range in use is 65.7 kJ: more than two minutes at 500 W.
constexpr Seconds round_period{10};

}  // namespace

CpuMeter::CpuMeter(std::shared_ptr<device::CpuPackage> package, device::CpuDomain domain)
    : package_{std::move(package)}, domain_{domain}, counter_{package_->energy_counter(domain).optional()} {
}

CpuMeter::Mark CpuMeter::mark() {
  const std::lock_guard guard{mutex_};
  // Read under the lock: the readings of two threads must stay in order around a wrap.
  const auto reading = package_->energy(domain_);
  if (!reading) {
    if (reading.failure().reason == Reason::lost) {
      ++breaks_;
      last_.reset();
    }
    return {.total = reading.failure(), .breaks = breaks_, .at = {}};
  }
  if (last_) {
    if (const auto gained = counter_gain(*counter_, last_->value, reading->value, reading->at - last_->at)) {
      total_ += *gained;
    } else {
      ++breaks_;
    }
  }
  last_ = *reading;
  return {.total = total_, .breaks = breaks_, .at = reading->at, .latency = reading->latency};
}

Instant CpuMeter::poll(Instant now) {
  (void)mark();
  return now + round_period;
}

void CpuMeter::pause() {
  const std::lock_guard guard{mutex_};
  last_.reset();
}

}  // namespace zeus::measure
