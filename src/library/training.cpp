#include "base/environment.hpp"
#include "base/log.hpp"
#include "device/gpu_control.hpp"
#include "device/inventory.hpp"
#include "library/machine.hpp"
#include "train/live_parts.hpp"
#include "train/outer_run.hpp"
#include "train/session.hpp"

#include <zeus/run_values.hpp>
#include <zeus/train.hpp>

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace zeus {

namespace {

// A GPU whose power limit a LimitSetter sets for this process.
class SetElsewhere final : public device::GpuControl {
 public:
  SetElsewhere(std::shared_ptr<LimitSetter> setter, device::DiscoveredGpu gpu)
      : setter_{std::move(setter)}, gpu_{std::move(gpu)} {}

  device::Outcome set_power_limit(Watts limit) override {
    try {
      setter_->set_power_limit(gpu_.number.value(), limit);
      return device::done;
    } catch (const std::exception& error) {
      log::warning(fmt::format("{}: {}", device::to_text(gpu_), error.what()));
      return Failure{Reason::unknown, "the LimitSetter of this process has failed"};
    }
  }
  device::Outcome lock_clocks(ClockDomain /*domain*/, ClockRange /*range*/) override { return nothing_else; }
  device::Outcome reset_clocks(ClockDomain /*domain*/) override { return nothing_else; }
  device::Outcome set_persistence_mode(bool /*enabled*/) override { return nothing_else; }

 private:
  static constexpr Failure nothing_else{Reason::unsupported, "the LimitSetter of this process sets only power limits"};

  std::shared_ptr<LimitSetter> setter_;
  device::DiscoveredGpu gpu_;
};

control::LeaseBook lease_book_of(const library::Machine& machine, const std::shared_ptr<LimitSetter>& setter) {
  if (!setter) {
    return library::lease_book();
  }
  std::vector<device::DiscoveredGpu> gpus = machine.gpus;
  for (device::DiscoveredGpu& gpu : gpus) {
    gpu.control = std::make_shared<SetElsewhere>(setter, gpu);
  }
  return library::open_lease_book(std::move(gpus));
}

std::unique_ptr<train::Session> session_on_this_machine(const TrainingOptions& options) {
  const library::Machine& machine = library::this_machine();
  std::shared_ptr<Monitor> monitor = options.monitor;
  if (!monitor) {
    MonitorOptions measured;
    measured.gpus = options.gpus;
    measured.cpus = std::vector<int>{};
    measured.synchronize = options.synchronize;
    monitor = std::make_shared<Monitor>(measured);
  }
  std::vector<train::SessionGpu> gpus = train::session_gpus(*monitor, machine.sampler->sampler()->devices().gpus,
                                                            train::allowed_limits_of(machine.lessor));
  train::SessionParts parts = train::live_parts(
      std::move(monitor), std::move(gpus),
      [&machine, setter = options.limit_setter] { return lease_book_of(machine, setter); }, machine.clock);
  parts.outer = train::OuterRun::find(Environment::of_process(), machine.clock);
  return std::make_unique<train::Session>(std::move(parts), options);
}

}  // namespace

RunValues run_values() {
  return train::run_values_of(Environment::of_process());
}

Training::Training(const Options& options) : session_{session_on_this_machine(options)} {
}

}  // namespace zeus
