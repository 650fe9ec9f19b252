// A GPU whose readings come from the physics of a model, on any clock, and which misbehaves on command: the subject of
// the tests of measuring. Readings from any thread; the switches are atomic.
#pragma once

#include "device/gpu.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <zeus/device_values.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace zeus::test {

class SimulatedGpu final : public device::Gpu {
 public:
  SimulatedGpu(const physics::GpuModel& model, Clock& clock) : model_{model}, clock_{clock} {
    identity_.name = std::string{model.product()};
    identity_.uuid = "GPU-" + std::string{model.name()};
    for (const auto feature : {device::GpuFeature::instant_power, device::GpuFeature::power_samples,
                               device::GpuFeature::temperature, device::GpuFeature::throttle_times}) {
      features_.set(feature, device::done);
    }
    if (model.sensors.counter_present) {
      features_.set(device::GpuFeature::energy_counter, device::done);
    }
    gpu_.start(clock.now() - 2_s);
  }

  void draw(Watts power) {
    const std::lock_guard guard{mutex_};
    gpu_.set_load(clock_.now(), physics::Load::constant(physics::Demand::of_power(power)));
  }
  [[nodiscard]] Joules truth(Seconds at) const { return gpu_.energy(Instant{} + at); }

  std::atomic<bool> lost{false};
  std::atomic<bool> denied{false};
  std::atomic<bool> frozen{false};
  std::atomic<bool> counter_fails{false};
  std::atomic<bool> samples_fail{false};
  std::atomic<double> counter_offset{0};
  std::atomic<int> stall_ms{0};
  std::atomic<int> reopened{0};
  std::atomic<double> gain_of_samples{1};
  mutable std::atomic<int> energy_calls{0};

  [[nodiscard]] const device::GpuIdentity& identity() const override { return identity_; }
  [[nodiscard]] const device::GpuFeatures& features() const override { return features_; }
  Reading<device::EnergyCounter> energy_counter() const override {
    return device::EnergyCounter{.resolution = Joules{1e-3}, .wraps_at = {}};
  }
  Reading<device::Stamped<Joules>> energy() const override {
    ++energy_calls;
    if (const auto failure = trouble()) {
      return *failure;
    }
    if (counter_fails) {
      return Reason::timeout;
    }
    const Instant now = clock_.now();
    const Joules value = physics::Sensors{gpu_}.counter(frozen ? Instant{} + frozen_at_ : now)->value;
    return device::Stamped<Joules>{Joules{std::floor(value.value() * 1e3) * 1e-3 + counter_offset}, now, Seconds{0}};
  }
  Reading<device::Stamped<Watts>> power(PowerKind kind, PowerScope scope) const override {
    if (const auto failure = trouble()) {
      return *failure;
    }
    if (kind != PowerKind::instant || scope != PowerScope::gpu) {
      return Reason::unsupported;
    }
    const Instant now = clock_.now();
    return device::Stamped<Watts>{physics::Sensors{gpu_}.instant(now)->value * gain_of_samples, now, Seconds{0}};
  }
  device::Outcome power_samples(Instant since, std::vector<device::Stamped<Watts>>& samples) const override {
    if (const auto failure = trouble()) {
      return *failure;
    }
    if (samples_fail) {
      return Reason::timeout;
    }
    std::array<physics::PowerReading, 128> ring;
    const std::size_t count = physics::Sensors{gpu_}.samples(clock_.now(), since, ring);
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back({.value = ring[i].value * gain_of_samples, .at = ring[i].updated, .latency = {}});
    }
    return device::done;
  }
  Reading<Celsius> temperature() const override { return gpu_.temperature(clock_.now()); }
  [[nodiscard]] device::ThrottleTimes throttle_times() const override {
    const Instant now = clock_.now();
    const physics::Totals totals = gpu_.totals(now);
    device::ThrottleTimes times;
    times.at = now;
    times.power_cap = totals.capped;
    times.software_thermal = totals.throttled;
    return times;
  }
  device::Outcome reopen() override {
    ++reopened;
    lost = false;
    return device::done;
  }
  [[nodiscard]] std::uint64_t generation() const override { return static_cast<std::uint64_t>(reopened.load()); }

  [[nodiscard]] PowerLimits power_limits() const override {
    PowerLimits limits;
    limits.maximum = model_.limits.max;
    return limits;
  }

  void freeze() {
    frozen_at_ = clock_.now() - Instant{};
    frozen = true;
  }

 private:
  [[nodiscard]] std::optional<Failure> trouble() const {
    if (stall_ms > 0) {
      clock_.sleep_until(clock_.now() + Milliseconds{static_cast<double>(stall_ms)});
    }
    if (lost) {
      return Failure{Reason::lost, "the GPU has fallen off the bus"};
    }
    if (denied) {
      return Failure{Reason::permission, {}};
    }
    return std::nullopt;
  }

  physics::GpuModel model_;
  Clock& clock_;
  device::GpuIdentity identity_;
  device::GpuFeatures features_;
  std::unique_ptr<physics::GpuState> state_ = std::make_unique<physics::GpuState>();
  physics::Gpu gpu_{model_, *state_};
  std::mutex mutex_;
  Seconds frozen_at_;
};

}  // namespace zeus::test
