// The settings of a GPU. Only `control` calls this, and only under a lease that has saved the settings it found; all
// other code gets a Gpu, which can only be read.
//
// Threads, fork and ownership as for Gpu; setting is not for hot paths (10 to 20 ms per call on hardware). An accepted
// setting may still not hold: read back what is enforced. A setting that a back-end does not override is one that its
// GPUs do not take, and answers `unsupported`.
#pragma once

#include "device/clocks.hpp"
#include "device/outcome.hpp"

#include <zeus/device_values.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

namespace zeus::device {

// The domain under which a domain's clocks are locked: drivers lock graphics and sm as one.
constexpr ClockDomain locked_as(ClockDomain domain) {
  return domain == ClockDomain::sm ? ClockDomain::graphics : domain;
}

class GpuControl {
 public:
  GpuControl() = default;
  GpuControl(const GpuControl&) = delete;
  GpuControl& operator=(const GpuControl&) = delete;
  virtual ~GpuControl() = default;

  // out_of_range if the limit is outside Gpu::power_limits().
  [[nodiscard]] virtual Outcome set_power_limit(Watts /*limit*/) { return Reason::unsupported; }

  // Keeps the clocks of a domain, and of those that are locked_as() the same, within a range until reset.
  [[nodiscard]] virtual Outcome lock_clocks(ClockDomain /*domain*/, ClockRange /*range*/) {
    return Reason::unsupported;
  }
  [[nodiscard]] virtual Outcome reset_clocks(ClockDomain /*domain*/) { return Reason::unsupported; }
  // True if a reset of one domain resets the others as well: what is to stay locked must then be locked again.
  [[nodiscard]] virtual bool reset_frees_all_domains() const { return false; }
  // Resets all domains: tries each and returns the first failure. A domain that this GPU does not have is no failure if
  // it has another.
  [[nodiscard]] virtual Outcome reset_all_clocks() {
    const Outcome graphics = reset_clocks(ClockDomain::graphics);
    const Outcome memory = reset_clocks(ClockDomain::memory);
    const bool has_no_memory_clocks = !memory && memory.failure().reason == Reason::unsupported;
    return !graphics || has_no_memory_clocks ? graphics : memory;
  }
  // True if that is one step, rather than one for each domain.
  [[nodiscard]] virtual bool resets_all_clocks_at_once() const { return false; }

  [[nodiscard]] virtual Outcome set_persistence_mode(bool /*enabled*/) { return Reason::unsupported; }

  // The longest that a setting may take, if that is longer than a driver's call.
  [[nodiscard]] virtual Seconds longest() const { return Seconds{0}; }
};

}  // namespace zeus::device
