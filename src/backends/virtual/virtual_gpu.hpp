// A GPU made of physics/, in this process, on any clock: hours of a virtual clock pass in milliseconds. Through
// device::Gpu and device::GpuControl it cannot be told from hardware. Its other members load it, return its true
// values, and make it misbehave.
//
// Threads: any thread may call any member. Fork: from then on a child has a copy of its own; fork while no other thread
// is inside a call. Ownership: it keeps alive what it needs, except for the clock, which outlives it.
#pragma once

#include "backends/virtual/faults.hpp"
#include "base/clock.hpp"
#include "device/gpu.hpp"
#include "device/gpu_control.hpp"
#include "physics/gpu.hpp"
#include "physics/gpu_model.hpp"
#include "physics/gpu_state.hpp"
#include "physics/load.hpp"

#include <zeus/device_values.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace zeus::backends::virtual_gpu {

// What the GPUs of one back-end share: their time, and how often they have been opened.
struct Host {
  Clock& clock;
  std::atomic<std::uint64_t> generation{1};
};

class VirtualGpu final : public device::Gpu, public device::GpuControl {
 public:
  VirtualGpu(std::shared_ptr<Host> host, const physics::GpuModel& model, int index);

  // Load and true values. A load starts now, or at its origin if it has a rhythm.
  void set_load(const physics::Load& load);
  // Follows `table` from now on, again and again if it `repeats`. An unsorted table is an invalid_argument Error.
  void follow_table(std::vector<physics::TablePoint> table, bool repeats);
  [[nodiscard]] const physics::GpuModel& model() const { return model_; }
  [[nodiscard]] physics::Totals truth() const;
  [[nodiscard]] Joules true_energy(Instant at) const;
  [[nodiscard]] physics::OperatingPoint operating_point() const;

  // Faults.
  void set_faults(const Faults& faults);
  void reset_counter();                   // as when the driver is reloaded: it starts at zero again
  void wrap_counter_at(Joules limit);     // from now on it starts over there
  void freeze_counter();                  // it stays where it is
  void turn_counter_back(Joules amount);  // it jumps back, and goes on from there
  void heal_counter();                    // it is right again
  void set_processes(std::vector<device::GpuProcess> processes);

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
  // One call of the driver: waits as long as a slow driver takes, holds the lock, and has advanced the state to `now`.
  struct Call {
    std::unique_lock<std::mutex> lock;
    Instant now;
  };
  [[nodiscard]] Call begin_call() const;
  // The failure that readings, or settings, have now.
  [[nodiscard]] std::optional<Failure> refusal(const std::optional<Reason>& reason) const;
  template <typename T, typename Read>
  Reading<T> read(Read&& value) const;
  [[nodiscard]] physics::Gpu gpu() const { return {model_, *state_, table_}; }
  [[nodiscard]] bool locks_clocks() const { return model_.architecture != physics::Architecture::pascal; }
  void probe();

  std::shared_ptr<Host> host_;
  physics::GpuModel model_;
  device::GpuIdentity identity_;
  device::GpuFeatures features_;
  std::uint64_t generation_;
  mutable std::mutex mutex_;
  std::unique_ptr<physics::GpuState> state_;
  std::vector<physics::TablePoint> table_;
  Faults faults_;
  bool persistence_mode_ = false;
  std::vector<device::GpuProcess> processes_;
};

}  // namespace zeus::backends::virtual_gpu
