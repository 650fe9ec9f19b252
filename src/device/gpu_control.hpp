// What a GPU can be told. Only `control` calls this, and only under a lease that has saved what it found; everything
// else is handed a Gpu, which cannot be told anything.
//
// Threads, fork and ownership as for Gpu; setting is not for hot paths (10 to 20 ms per call on hardware). That a
// setting was accepted does not mean that it holds: read back what is enforced. A setting that a back-end does not
// override is one that its GPUs do not take: it answers `unsupported`.
#pragma once

#include "device/clocks.hpp"
#include "device/outcome.hpp"

#include <zeus/device_values.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

namespace zeus::device {

class GpuControl {
 public:
  GpuControl() = default;
  GpuControl(const GpuControl&) = delete;
  GpuControl& operator=(const GpuControl&) = delete;
  virtual ~GpuControl() = default;

  // out_of_range when the limit is outside of what Gpu::power_limits() allows.
  [[nodiscard]] virtual Outcome set_power_limit(Watts /*limit*/) { return Reason::unsupported; }

  // Keeps a domain's clocks within a range (graphics and sm are one domain to most drivers) until reset.
  [[nodiscard]] virtual Outcome lock_clocks(ClockDomain /*domain*/, ClockRange /*range*/) {
    return Reason::unsupported;
  }
  [[nodiscard]] virtual Outcome reset_clocks(ClockDomain /*domain*/) { return Reason::unsupported; }
  // Of all domains: each is tried, and the first failure told, but for a domain that this GPU does not have beside one
  // that it has.
  [[nodiscard]] virtual Outcome reset_all_clocks() {
    const Outcome graphics = reset_clocks(ClockDomain::graphics);
    const Outcome memory = reset_clocks(ClockDomain::memory);
    const bool has_no_memory_clocks = !memory && memory.failure().reason == Reason::unsupported;
    return !graphics || has_no_memory_clocks ? graphics : memory;
  }
  // Whether that is one step of its own, rather than one for each domain.
  [[nodiscard]] virtual bool resets_all_clocks_at_once() const { return false; }

  [[nodiscard]] virtual Outcome set_persistence_mode(bool /*enabled*/) { return Reason::unsupported; }

  // How long a setting may take where that is longer than a driver's call.
  [[nodiscard]] virtual Seconds longest() const { return Seconds{0}; }
};

}  // namespace zeus::device
