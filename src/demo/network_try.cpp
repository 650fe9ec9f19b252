#include "demo/network_try.hpp"

#include "train/session.hpp"
#include "trial/monitor_windows.hpp"

#include <memory>
#include <utility>

namespace zeus::demo {

namespace {

constexpr Seconds profile_time{5};  // of each limit

std::unique_ptr<train::Session> open_session(const Bench& bench, const TrainingOptions& options) {
  train::SessionParts parts{
      .gpus = {{.index = 0, .gpu = bench.gpu.device.gpu}},
      .meter = std::make_unique<CounterMeter>(bench.gpu.device.gpu, bench.model.sensors.counter_period, bench.clock),
      .acquire = bench.acquire,
      .clock = bench.clock};
  return std::make_unique<train::Session>(std::move(parts), options);
}

trial_sessions::SessionGpus::Parts gpus_of(const Bench& bench, CounterMeter& counter) {
  const std::shared_ptr<const device::Gpu> gpu = bench.gpu.device.gpu;
  return {.open = [&bench](const TrainingOptions& options) { return open_session(bench, options); },
          .meter = std::make_unique<trial::MonitorWindows<CounterMeter>>(
              counter, [gpu](int /*number*/) { return gpu->identity().uuid; }),
          .sets_limits = true,
          .limit_in_force = [gpu] { return gpu->power_limits().current.optional(); },
          .clock = bench.clock};
}

TrainingOptions at_eta(double eta) {
  TrainingOptions options;
  options.eta = eta;
  return options;
}

}  // namespace

NetworkTry::NetworkTry(const Bench& bench, const small_network::Course& course, double eta)
    : counter_{bench.gpu.device.gpu, bench.model.sensors.counter_period, bench.clock},
      gpus_{gpus_of(bench, counter_), at_eta(eta)},
      instruments_{gpus_, profile_time, bench.clock},
      source_{bench.gpu, bench.model, bench.clock, course, [this] { return instruments_.state().measuring; }},
      trial_{source_, instruments_, bench.clock} {
}

}  // namespace zeus::demo
