// A GPU behind NVIDIA's management library, to read and to set. Threads, cost and fork as in device/gpu.hpp.
#pragma once

#include "backends/nvml/nvml_library.hpp"
#include "device/gpu.hpp"
#include "device/gpu_control.hpp"

#include <zeus/device_values.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace zeus::backends::nvml {

class NvmlGpu final : public device::Gpu, public device::GpuControl {
 public:
  // `handle` belongs to the library's present generation.
  NvmlGpu(std::shared_ptr<NvmlLibrary> library, abi::Device* handle, device::GpuIdentity identity);

  [[nodiscard]] const device::GpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return features_; }
  Reading<device::EnergyCounter> energy_counter() const override;
  Reading<device::Stamped<Joules>> energy() const override;
  Reading<device::Stamped<Watts>> power(PowerKind kind, PowerScope scope) const override;
  device::Outcome power_samples(Instant since, std::vector<device::Stamped<Watts>>& samples) const override;
  [[nodiscard]] PowerLimits power_limits() const override;
  [[nodiscard]] device::Clocks clocks() const override;
  Reading<std::vector<Megahertz>> supported_memory_clocks() const override;
  Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz memory) const override;
  Reading<std::optional<ClockRange>> locked_clocks(ClockDomain domain) const override;
  Reading<Celsius> temperature() const override;
  Reading<device::Utilization> utilization() const override;
  Reading<ThrottleReasons> throttle_reasons() const override;
  [[nodiscard]] device::ThrottleTimes throttle_times() const override;
  Reading<bool> persistence_mode() const override;
  Reading<std::vector<device::GpuProcess>> processes() const override;
  Reading<device::MigState> mig() const override;
  device::Outcome reopen() override;
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }

  device::Outcome set_power_limit(Watts limit) override;
  device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override;
  device::Outcome reset_clocks(ClockDomain domain) override;
  device::Outcome set_persistence_mode(bool enabled) override;

 private:
  // The library's way to the energy counter that works here, found by trying.
  enum class EnergySource { call, energy_field, total_energy_field, none };

  [[nodiscard]] const Functions& nvml() const { return library_->functions(); }
  void probe();
  device::Outcome probe_samples() const;
  Reading<device::Stamped<Joules>> energy_from(EnergySource source) const;
  Reading<Megahertz> clock(abi::ClockType domain) const;
  Reading<Megahertz> maximum_clock(abi::ClockType domain) const;
  Reading<Seconds> throttled_for(std::uint32_t field) const;

  std::shared_ptr<NvmlLibrary> library_;
  abi::Device* handle_;
  device::GpuIdentity identity_;
  device::GpuFeatures features_;
  EnergySource energy_source_ = EnergySource::none;
  Failure no_energy_;  // why there is no source, if there is none
  std::uint64_t generation_;
};

}  // namespace zeus::backends::nvml
