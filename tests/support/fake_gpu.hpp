// A GPU that answers with values set by the test: for tests of the code that uses the answers. The virtual devices
// (backends/virtual) model a real GPU. One thread at a time.
#pragma once

#include "device/backend.hpp"

#include <zeus/device_values.hpp>

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
  Reading<device::EnergyCounter> its_counter = Reason::unsupported;
  std::function<Reading<device::Stamped<Joules>>()> its_energy = [] { return Reason::unsupported; };
  Reading<device::Stamped<Watts>> its_power = Reason::unsupported;
  PowerLimits its_limits;
  device::Clocks its_clocks;
  Reading<Celsius> its_temperature = Reason::unsupported;
  Reading<device::Utilization> its_utilization = Reason::unsupported;
  Reading<ThrottleReasons> its_throttle_reasons = Reason::unsupported;
  Reading<bool> its_persistence = Reason::unsupported;
  Reading<device::MigState> its_mig = Reason::unsupported;
  std::function<device::Outcome()> its_reopening = [] { return device::done; };

  [[nodiscard]] const device::GpuIdentity& identity() const override { return its_identity; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return its_features; }
  Reading<device::EnergyCounter> energy_counter() const override { return its_counter; }
  Reading<device::Stamped<Joules>> energy() const override { return its_energy(); }
  Reading<device::Stamped<Watts>> power(PowerKind kind, PowerScope scope) const override {
    const bool answers = kind == PowerKind::instant && scope == PowerScope::gpu;
    return answers ? its_power : Reason::unsupported;
  }
  [[nodiscard]] PowerLimits power_limits() const override { return its_limits; }
  [[nodiscard]] device::Clocks clocks() const override { return its_clocks; }
  Reading<Celsius> temperature() const override { return its_temperature; }
  Reading<device::Utilization> utilization() const override { return its_utilization; }
  Reading<ThrottleReasons> throttle_reasons() const override { return its_throttle_reasons; }
  Reading<bool> persistence_mode() const override { return its_persistence; }
  Reading<device::MigState> mig() const override { return its_mig; }
  device::Outcome reopen() override { return its_reopening(); }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }
};

struct FakeCpu final : device::CpuPackage {
  FakeCpu(int index, std::string name) : its_identity{index, std::move(name)} {}

  device::CpuIdentity its_identity;
  Reading<device::Stamped<Joules>> its_package = Reason::unsupported;
  Reading<device::Stamped<Joules>> its_memory = Reason::unsupported;
  std::function<Joules()> its_growth = [] { return Joules{0}; };  // of both counters

  [[nodiscard]] const device::CpuIdentity& identity() const override { return its_identity; }
  Reading<device::EnergyCounter> energy_counter(device::CpuDomain domain) const override {
    const auto reading = energy(domain);
    return reading ? Reading<device::EnergyCounter>{{Joules{1e-6}, 262'143_J, PowerScope::package}} : reading.failure();
  }
  Reading<device::Stamped<Joules>> energy(device::CpuDomain domain) const override {
    const Reading<device::Stamped<Joules>>& reading = domain == device::CpuDomain::package ? its_package : its_memory;
    if (!reading) {
      return reading;
    }
    device::Stamped<Joules> grown = *reading;
    grown.value += its_growth();
    return grown;
  }
  device::Outcome reopen() override { return device::done; }
  [[nodiscard]] std::uint64_t generation() const override { return 0; }
};

// A back-end that finds the given devices, or throws the given exception.
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
