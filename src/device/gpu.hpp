// The readings of a GPU. One object is one physical GPU, whichever back-end found it.
//
// Threads: any thread may call any reading, and several at once. reopen() must not run while another call is under way
// on any device of the same back-end. Cost: energy() and power() are for hot paths: they do not allocate, do not log
// and hold no lock for longer than the driver's call itself takes. If a GPU is read through a daemon, each reading is a
// request to it and allocates memory; it takes about 100 us on this machine, and the network's time elsewhere.
// Failures: a reading never throws because of the device or its driver; it returns the reason why there is no value.
// Fork: a child that wants to read must call reopen() first; until then any reading may report that the device is lost.
// Call reopen() on each device; what devices share is opened again only once. Ownership: shared; a device keeps alive
// what it needs of its back-end. A reading that a back-end does not override is one that its GPUs do not have, and
// answers `unsupported`.
#pragma once

#include "device/clocks.hpp"
#include "device/energy_counter.hpp"
#include "device/gpu_feature.hpp"
#include "device/gpu_identity.hpp"
#include "device/gpu_process.hpp"
#include "device/mig.hpp"
#include "device/outcome.hpp"
#include "device/stamped.hpp"
#include "device/throttle.hpp"
#include "device/utilization.hpp"

#include <zeus/device_values.hpp>
#include <zeus/reading.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::device {

class Gpu {
 public:
  Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu() = default;

  [[nodiscard]] virtual const GpuIdentity& identity() const = 0;

  // As probed when the device was opened. A feature that is there may still fail later. A missing feature stays missing
  // until the device is reopened.
  [[nodiscard]] virtual const GpuFeatures& features() const = 0;

  // How the counter of energy() counts; a failure if there is none.
  [[nodiscard]] virtual Reading<EnergyCounter> energy_counter() const { return Reason::unsupported; }

  // The cumulative counter, raw: it starts at any value, starts again when the driver is reloaded, and on most hardware
  // advances only every 20 to 100 ms.
  [[nodiscard]] virtual Reading<Stamped<Joules>> energy() const { return Reason::unsupported; }

  [[nodiscard]] virtual Reading<Stamped<Watts>> power(PowerKind /*kind*/, PowerScope /*scope*/) const {
    return Reason::unsupported;
  }

  // Appends to `samples`, oldest first, the driver's buffered power samples that are later than `since`. The buffer is
  // the caller's, so that polling reuses it.
  [[nodiscard]] virtual Outcome power_samples(Instant /*since*/, std::vector<Stamped<Watts>>& /*samples*/) const {
    return Reason::unsupported;
  }

  [[nodiscard]] virtual PowerLimits power_limits() const {
    return {Reason::unsupported, Reason::unsupported, Reason::unsupported, Reason::unsupported, Reason::unsupported};
  }

  [[nodiscard]] virtual Clocks clocks() const {
    return {Reason::unsupported, Reason::unsupported, Reason::unsupported, Reason::unsupported, Reason::unsupported};
  }
  // Highest first. The supported graphics clocks depend on the memory clock.
  [[nodiscard]] virtual Reading<std::vector<Megahertz>> supported_memory_clocks() const { return Reason::unsupported; }
  [[nodiscard]] virtual Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz /*memory*/) const {
    return Reason::unsupported;
  }
  // The range that a domain is locked to, or an empty optional if it is not locked; few drivers report it.
  [[nodiscard]] virtual Reading<std::optional<ClockRange>> locked_clocks(ClockDomain /*domain*/) const {
    return Reason::unsupported;
  }

  [[nodiscard]] virtual Reading<Celsius> temperature() const { return Reason::unsupported; }
  [[nodiscard]] virtual Reading<Utilization> utilization() const { return Reason::unsupported; }
  [[nodiscard]] virtual Reading<ThrottleReasons> throttle_reasons() const { return Reason::unsupported; }
  [[nodiscard]] virtual ThrottleTimes throttle_times() const {
    return {Instant{},           Reason::unsupported, Reason::unsupported,
            Reason::unsupported, Reason::unsupported, Reason::unsupported};
  }
  [[nodiscard]] virtual Reading<bool> persistence_mode() const { return Reason::unsupported; }
  [[nodiscard]] virtual Reading<std::vector<GpuProcess>> processes() const { return Reason::unsupported; }
  [[nodiscard]] virtual Reading<MigState> mig() const { return Reason::unsupported; }

  // Opens the device again: in a forked child, or after a reading reported that it is lost. The identity stays;
  // features are probed again. On failure the device stays lost, and reopening may be tried again.
  [[nodiscard]] virtual Outcome reopen() = 0;

  // Grows with every reopen() that succeeds: do not subtract counters read under different generations.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;
};

// The feature that says whether power() can answer for this kind and scope; nothing if no device ever can.
std::optional<GpuFeature> power_feature(PowerKind kind, PowerScope scope);

}  // namespace zeus::device
