// A monitor of simulated GPUs: on the test's own clock, independent of the machine, or in real time with the sampler's
// thread, for tests of threads, forks and real time itself. One thread creates and destroys it.
#pragma once

#include "measure/windows.hpp"
#include "tests/support/simulated_gpu.hpp"
#include "tests/support/stepped_clock.hpp"

#include <zeus/measure.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace zeus::test {

template <typename ClockOfTest>
struct MonitoredGpusOn {
  explicit MonitoredGpusOn(const std::vector<const char*>& models, const MonitorOptions& options = {}) {
    constexpr bool stepped = std::is_same_v<ClockOfTest, SteppedClock>;
    measure::Sampler::Devices devices;
    for (const char* const model : models) {
      gpus.push_back(std::make_shared<SimulatedGpu>(physics::preset(model), clock));
      devices.gpus.push_back(gpus.back());
    }
    using Polled = measure::Sampler::Polled;
    source =
        std::make_shared<measure::SamplerSource>(devices, clock, stepped ? Polled::by_caller : Polled::by_own_thread);
    if constexpr (stepped) {
      clock.employ([this] { return source->sampler()->poll(); });
    }
    monitor.emplace(measure::monitor_of(source, options));
  }
  MonitoredGpusOn(const MonitoredGpusOn&) = delete;
  MonitoredGpusOn& operator=(const MonitoredGpusOn&) = delete;
  ~MonitoredGpusOn() = default;

  void pass(Seconds time) { clock.sleep_until(clock.now() + time); }
  [[nodiscard]] Joules truth(const Measurement& m, std::size_t gpu = 0) const {
    return gpus[gpu]->truth(m.end) - gpus[gpu]->truth(m.start);
  }
  // The stated interval contains the true energy.
  void expect_truth(const Measurement& m, int gpu = 0) const {
    const MeasuredEnergy& measured = m.gpu_energy.at(gpu);
    ASSERT_TRUE(measured.energy) << measured.reason;
    EXPECT_NEAR(measured.energy->value.value(), truth(m, static_cast<std::size_t>(gpu)).value(),
                measured.energy->uncertainty.value())
        << "GPU " << gpu;
  }

  ClockOfTest clock;
  std::vector<std::shared_ptr<SimulatedGpu>> gpus;
  std::shared_ptr<measure::SamplerSource> source;
  std::optional<Monitor> monitor;
};

using MonitoredGpus = MonitoredGpusOn<SteppedClock>;
using MonitoredGpusInRealTime = MonitoredGpusOn<SystemClock>;

}  // namespace zeus::test
