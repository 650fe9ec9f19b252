// A GPU behind AMD's system management library, to read and to set. Threads, cost and fork as in device/gpu.hpp.
#pragma once

#include "backends/amdsmi/amdsmi_library.hpp"
#include "device/gpu.hpp"
#include "device/gpu_control.hpp"

#include <zeus/device_values.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::backends::amdsmi {

class AmdsmiGpu final : public device::Gpu, public device::GpuControl {
 public:
  // `handle` belongs to the library's present generation.
  AmdsmiGpu(std::shared_ptr<AmdsmiLibrary> library, abi::Processor* handle, device::GpuIdentity identity);

  // Called by discovery if watching the counter showed that it is wrong; from then on there is no counter.
  void disbelieve_counter(Failure why);

  [[nodiscard]] const device::GpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return features_; }
  Reading<device::EnergyCounter> energy_counter() const override;
  Reading<device::Stamped<Joules>> energy() const override;
  Reading<device::Stamped<Watts>> power(PowerKind kind, PowerScope scope) const override;
  [[nodiscard]] PowerLimits power_limits() const override;
  [[nodiscard]] device::Clocks clocks() const override;
  Reading<std::vector<Megahertz>> supported_memory_clocks() const override;
  Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const override;
  Reading<Celsius> temperature() const override;
  Reading<device::Utilization> utilization() const override;
  Reading<std::vector<device::GpuProcess>> processes() const override;
  device::Outcome reopen() override;
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }

  device::Outcome set_power_limit(Watts limit) override;
  device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override;
  // Gives both domains back to the driver, which has no call for only one.
  device::Outcome reset_clocks(ClockDomain domain) override;
  [[nodiscard]] bool reset_frees_all_domains() const override { return true; }

 private:
  struct Count {
    device::Stamped<Joules> energy;
    Joules resolution;
  };

  [[nodiscard]] const Functions& amdsmi() const { return library_->functions(); }
  void probe();
  Reading<Count> count() const;
  Reading<std::vector<Megahertz>> supported_clocks(abi::ClockType domain) const;

  std::shared_ptr<AmdsmiLibrary> library_;
  abi::Processor* handle_;
  device::GpuIdentity identity_;
  device::GpuFeatures features_;
  std::optional<Failure> disbelief_;
  std::uint64_t generation_;
};

// The PCI address of a processor, by which it is found again.
device::PciAddress address_of(AmdsmiLibrary& library, abi::Processor* processor);

}  // namespace zeus::backends::amdsmi
