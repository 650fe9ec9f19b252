// A CPU package whose counters are read through the daemon, which keeps counting when they wrap. As in
// device/cpu_package.hpp; for the cost of a reading see zeusd_gpu.hpp.
#pragma once

#include "backends/zeusd/daemon_link.hpp"
#include "backends/zeusd/zeusd_gpu.hpp"
#include "device/cpu_package.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace zeus::backends::zeusd {

class ZeusdCpu final : public device::CpuPackage {
 public:
  ZeusdCpu(std::shared_ptr<DaemonLink> link, std::shared_ptr<Openings> openings, device::CpuIdentity identity,
           std::uint32_t number);

  [[nodiscard]] const device::CpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] Reading<device::EnergyCounter> energy_counter(device::CpuDomain domain) const override;
  [[nodiscard]] Reading<device::Stamped<Joules>> energy(device::CpuDomain domain) const override;
  [[nodiscard]] device::Outcome reopen() override;
  [[nodiscard]] std::uint64_t generation() const override { return opened_ + changes_; }

 private:
  [[nodiscard]] Reading<protocol::CpuCounterReading> read(device::CpuDomain domain) const;

  std::shared_ptr<DaemonLink> link_;
  std::shared_ptr<Openings> openings_;
  device::CpuIdentity identity_;
  std::uint32_t number_;
  std::uint64_t opened_ = 1;
  // The start of each counter's current run, and how often it was seen to change.
  mutable std::array<std::atomic<std::int64_t>, 2> began_{};
  mutable std::atomic<std::uint64_t> changes_{0};
};

}  // namespace zeus::backends::zeusd
