// A GPU that is read through the daemon. As in device/gpu.hpp; each reading is a request to the daemon, so it allocates
// and takes about 100 us on this machine, and as long as the network takes elsewhere.
#pragma once

#include "backends/zeusd/daemon_link.hpp"
#include "device/gpu.hpp"

#include <atomic>
#include <memory>

namespace zeus::backends::zeusd {

// Reopens the devices of one daemon, once for all of them.
struct Openings {
  std::atomic<std::uint64_t> count{1};
};

class ZeusdGpu final : public device::Gpu {
 public:
  ZeusdGpu(std::shared_ptr<DaemonLink> link, std::shared_ptr<Openings> openings, device::GpuIdentity identity,
           std::uint32_t number);

  [[nodiscard]] const device::GpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return features_; }
  [[nodiscard]] Reading<device::EnergyCounter> energy_counter() const override;
  [[nodiscard]] Reading<device::Stamped<Joules>> energy() const override;
  [[nodiscard]] Reading<device::Stamped<Watts>> power(PowerKind kind, PowerScope scope) const override;
  [[nodiscard]] PowerLimits power_limits() const override;
  [[nodiscard]] device::Clocks clocks() const override;
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_memory_clocks() const override;
  [[nodiscard]] Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const override;
  [[nodiscard]] Reading<std::optional<ClockRange>> locked_clocks(ClockDomain domain) const override;
  [[nodiscard]] Reading<Celsius> temperature() const override;
  [[nodiscard]] Reading<device::Utilization> utilization() const override;
  [[nodiscard]] Reading<ThrottleReasons> throttle_reasons() const override;
  [[nodiscard]] device::ThrottleTimes throttle_times() const override;
  [[nodiscard]] Reading<bool> persistence_mode() const override;
  [[nodiscard]] device::Outcome reopen() override;
  [[nodiscard]] std::uint64_t generation() const override;

 private:
  // At least these parts (protocol::GpuParts).
  [[nodiscard]] Reading<protocol::GpuReadings> read(std::uint32_t parts) const;
  void probe();

  std::shared_ptr<DaemonLink> link_;
  std::shared_ptr<Openings> openings_;
  device::GpuIdentity identity_;
  std::uint32_t number_;
  device::GpuFeatures features_;
  Reading<device::EnergyCounter> counter_{Reason::unsupported};
  std::uint64_t opened_ = 1;
  // How often the daemon has opened it, and how often that was seen to change.
  mutable std::atomic<std::uint64_t> told_generation_{0};
  mutable std::atomic<std::uint64_t> changes_{0};
};

}  // namespace zeus::backends::zeusd
