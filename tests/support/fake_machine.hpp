// A machine for tests of output: a GPU with all features, one whose driver refuses half of them, and two CPU packages,
// one of them unreadable. One thread at a time; the clock is the caller's.
#pragma once

#include "tests/support/fake_gpu.hpp"

#include "base/clock.hpp"

#include <zeus/device_values.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace zeus::test {

// A GPU whose counter moves every 20 ms, at 61.25 W.
inline std::shared_ptr<FakeGpu> make_capable_gpu(const Clock& clock) {
  using namespace device;
  GpuIdentity identity;
  identity.uuid = "GPU-8e1d7a52-0000-4000-8000-000000000000";
  identity.pci = {0, 0x3b, 0, 0};
  identity.name = "Tesla V100-SXM2-32GB";
  identity.driver = "550.54.15";
  auto gpu = std::make_shared<FakeGpu>(identity);
  gpu->its_counter = EnergyCounter{Millijoules{1}, std::nullopt, PowerScope::gpu};
  gpu->its_energy = [&clock]() -> Reading<Stamped<Joules>> {
    const double ticks = std::floor(static_cast<double>(clock.now().nanoseconds) * 1e-9 / 0.02 + 1e-6);
    return Stamped<Joules>{Joules{61.25 * 0.02 * ticks}, clock.now(), Seconds{0}};
  };
  gpu->its_power = Stamped<Watts>{Watts{61.25}, clock.now(), Seconds{0}};
  gpu->its_limits = {250_W, 300_W, 100_W, 300_W, 250_W};
  gpu->its_clocks = {1380_MHz, 1380_MHz, 877_MHz, 1530_MHz, 877_MHz};
  gpu->its_temperature = Celsius{41};
  gpu->its_utilization = Utilization{0.25, 0.125};
  gpu->its_throttle_reasons = ThrottleReasons{static_cast<std::uint32_t>(ThrottleReason::power_cap)};
  gpu->its_persistence = true;
  gpu->its_mig = Failure{Reason::unsupported, {}};
  for (std::size_t i = 0; i < gpu_feature_count; ++i) {
    gpu->its_features.set(static_cast<GpuFeature>(i), done);
  }
  gpu->its_features.set(GpuFeature::mig, Reason::unsupported);
  return gpu;
}

inline std::shared_ptr<FakeGpu> make_limited_gpu() {
  using namespace device;
  GpuIdentity identity;
  identity.uuid = "GPU-0d5e0000-0000-4000-8000-000000000001";
  identity.pci = {0, 0x5e, 0, 0};
  identity.index = 1;
  identity.name = "Tesla V100-SXM2-32GB";
  identity.driver = "550.54.15";
  auto gpu = std::make_shared<FakeGpu>(identity);
  const Failure lost{Reason::lost, "the GPU has fallen off the bus"};
  gpu->its_counter = lost;
  gpu->its_energy = [lost] { return lost; };
  gpu->its_power = lost;
  gpu->its_limits = {lost, lost, Reason::unsupported, Reason::unsupported, Reason::permission};
  gpu->its_temperature = Failure{Reason::timeout, {}};
  gpu->its_persistence = false;
  gpu->its_features.set(GpuFeature::energy_counter, lost);
  return gpu;
}

struct FakeMachine {
  explicit FakeMachine(const Clock& clock) {
    using namespace device;
    gpus.its_discovery.gpus = {{make_capable_gpu(clock), nullptr}, {make_limited_gpu(), nullptr}};
    gpus.its_discovery.summary = "driver 550.54.15, NVML 12.550.54.15";
    cpus.its_discovery.kind = DeviceKind::cpu;
    auto readable = std::make_shared<FakeCpu>(0, "package-0");
    readable->its_package = Stamped<Joules>{1234_J, {}, {}};
    readable->its_memory = Stamped<Joules>{56_J, {}, {}};
    readable->its_growth = [&clock] { return 100_W * (clock.now() - Instant{}); };
    auto refused = std::make_shared<FakeCpu>(1, "package-1");
    refused->its_package = Failure{Reason::permission, "the kernel shows this counter to root only"};
    cpus.its_discovery.cpus = {readable, refused};
    cpus.its_discovery.problems = {{"package-1", "its energy counter cannot be used", "run `sudo chmod -R a+r ...`"}};
    cpus.its_discovery.summary = "RAPL: 2 packages, 1 with memory";
  }

  FakeBackend gpus{"nvml"};
  FakeBackend cpus{"rapl"};
};

}  // namespace zeus::test
