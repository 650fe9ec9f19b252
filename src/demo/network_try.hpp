// The small network's trainings as tries, each on the GPU of a bench, whose own counter measures them. One thread; the
// arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "control/lease.hpp"
#include "demo/counter_meter.hpp"
#include "demo/network_source.hpp"
#include "demo/stage.hpp"
#include "trial/gpu_instruments.hpp"
#include "trial/trial.hpp"
#include "trial_sessions/session_gpus.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace zeus::demo {

// The GPU, its model and the clock with which trainings run.
struct Bench {
  StageGpu gpu;
  const physics::GpuModel& model;
  Clock& clock;
  std::function<control::Lease(std::string_view uuid, Seconds term)> acquire;
};

class NetworkTry {
 public:
  NetworkTry(const Bench& bench, const small_network::Course& course, double eta);

  [[nodiscard]] trial::Trial& trial() { return trial_; }
  // Of the training that was started last.
  [[nodiscard]] std::uint64_t seed() const { return source_.seed(); }

 private:
  CounterMeter counter_;
  trial_sessions::SessionGpus gpus_;
  trial::GpuInstruments instruments_;
  NetworkSource source_;
  trial::Trial trial_;
};

}  // namespace zeus::demo
