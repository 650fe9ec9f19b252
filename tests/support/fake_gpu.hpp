// A GPU that answers what a test writes into it: for tests of what is made of answers. What a GPU really does is for
// the virtual devices (backends/virtual). One thread at a time.
#pragma once

#include "device/backend.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace zeus::test {

struct FakeGpu : device::Gpu {
  explicit FakeGpu(device::GpuIdentity who) : its_identity{std::move(who)} {}

  device::GpuIdentity its_identity;
  device::GpuFeatures its_features;
  device::Reading<device::EnergyCounter> its_counter = device::Reason::unsupported;
  std::function<device::Reading<device::Stamped<Joules>>()> its_energy = [] { return device::Reason::unsupported; };
  device::Reading<device::Stamped<Watts>> its_power = device::Reason::unsupported;
  device::PowerLimits its_limits;
  device::Clocks its_clocks;
  device::Reading<Celsius> its_temperature = device::Reason::unsupported;
  device::Reading<device::Utilization> its_utilization = device::Reason::unsupported;
  device::Reading<device::ThrottleReasons> its_throttle_reasons = device::Reason::unsupported;
  device::Reading<bool> its_persistence = device::Reason::unsupported;
  device::Reading<device::MigState> its_mig = device::Reason::unsupported;

  [[nodiscard]] const device::GpuIdentity& identity() const override { return its_identity; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return its_features; }
  device::Reading<device::EnergyCounter> energy_counter() const override { return its_counter; }
  device::Reading<device::Stamped<Joules>> energy() const override { return its_energy(); }
  device::Reading<device::Stamped<Watts>> power(device::PowerKind kind, device::PowerScope scope) const override {
    const bool answers = kind == device::PowerKind::instant && scope == device::PowerScope::gpu;
    return answers ? its_power : device::Reason::unsupported;
  }
  device::Outcome power_samples(Instant /*since*/, std::vector<device::Stamped<Watts>>& /*samples*/) const override {
    return device::Reason::unsupported;
  }
  [[nodiscard]] device::PowerLimits power_limits() const override { return its_limits; }
  [[nodiscard]] device::Clocks clocks() const override { return its_clocks; }
  device::Reading<std::vector<Megahertz>> supported_memory_clocks() const override {
    return device::Reason::unsupported;
  }
  device::Reading<std::vector<Megahertz>> supported_graphics_clocks(Megahertz /*memory*/) const override {
    return device::Reason::unsupported;
  }
  device::Reading<std::optional<device::ClockRange>> locked_clocks(device::ClockDomain /*domain*/) const override {
    return device::Reason::unsupported;
  }
  device::Reading<Celsius> temperature() const override { return its_temperature; }
  device::Reading<device::Utilization> utilization() const override { return its_utilization; }
  device::Reading<device::ThrottleReasons> throttle_reasons() const override { return its_throttle_reasons; }
  [[nodiscard]] device::ThrottleTimes throttle_times() const override { return {}; }
  device::Reading<bool> persistence_mode() const override { return its_persistence; }
  device::Reading<std::vector<device::GpuProcess>> processes() const override { return device::Reason::unsupported; }
  device::Reading<device::MigState> mig() const override { return its_mig; }
  device::Outcome reopen() override { return device::done; }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }
};

struct FakeCpu final : device::CpuPackage {
  FakeCpu(int index, std::string name) : its_identity{index, std::move(name)} {}

  device::CpuIdentity its_identity;
  device::Reading<device::Stamped<Joules>> its_package = device::Reason::unsupported;
  device::Reading<device::Stamped<Joules>> its_memory = device::Reason::unsupported;

  [[nodiscard]] const device::CpuIdentity& identity() const override { return its_identity; }
  device::Reading<device::EnergyCounter> energy_counter(device::CpuDomain domain) const override {
    const auto reading = energy(domain);
    return reading ? device::Reading<device::EnergyCounter>{{Joules{1e-6}, 262'143_J, device::PowerScope::package}}
                   : reading.failure();
  }
  device::Reading<device::Stamped<Joules>> energy(device::CpuDomain domain) const override {
    return domain == device::CpuDomain::package ? its_package : its_memory;
  }
  device::Outcome reopen() override { return device::done; }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }
};

// A back-end that finds what it was given, or throws what it was given.
struct FakeBackend final : device::Backend {
  explicit FakeBackend(std::string backend_name) : its_name{std::move(backend_name)} {}

  std::string its_name;
  device::Discovery its_discovery;
  std::optional<Error> its_error;

  [[nodiscard]] std::string_view name() const override { return its_name; }
  [[nodiscard]] device::Discovery discover() override {
    if (its_error) {
      throw Error{*its_error};
    }
    return its_discovery;
  }
};

}  // namespace zeus::test
