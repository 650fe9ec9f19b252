// Served models drawn at random, on virtual GPUs and a test's clock, and what they take in the long run. One thread.
#pragma once

#include "backends/virtual/virtual_backend.hpp"
#include "measure/sampler_source.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "served_model.hpp"
#include "serving/bench.hpp"
#include "serving/bench_result.hpp"
#include "tests/support/stepped_clock.hpp"

#include <zeus/measure.hpp>
#include <zeus/power.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::test {

struct Situation {
  ServedShape shape;
  std::vector<physics::GpuModel> gpus;  // all of one model
  double activity = 0.5;                // of one answer's kernels
  double activity_each = 0.0;           // more for each other
  double memory = 0.6;                  // share of a step that does not depend on the clock
  std::uint64_t seed = 0;

  [[nodiscard]] physics::Demand demand(std::size_t running) const;
};

Situation drawn_situation(std::uint64_t number);

struct Benched {
  serving::BenchRun run = {};
  serving::BenchResult result = {};
};

// Its GPUs, and what measures them.
class ServedMachine {
 public:
  explicit ServedMachine(const Situation& situation);
  ServedMachine(const ServedMachine&) = delete;
  ServedMachine& operator=(const ServedMachine&) = delete;
  ~ServedMachine() = default;

  void set(const PowerSetting& setting);
  // The figures of one run under the present setting, with so many times the requests of the situation.
  Benched bench(std::uint64_t seed, std::uint64_t effort = 1);

 private:
  Situation situation_;
  SteppedClock clock_;
  backends::virtual_gpu::VirtualBackend backend_;
  std::shared_ptr<measure::SamplerSource> source_;
  std::optional<Monitor> monitor_;
};

struct LongRun {
  double energy_per_token = 0;
  double energy_per_answer = 0;
  // If they were asked for; those that refused requests lack are infinite.
  std::vector<double> first = {};
  std::vector<double> between = {};
};

// So many times as many requests as a run has; without a setting, under the GPUs' default limit.
LongRun long_run(const Situation& situation, std::uint64_t times, const std::optional<PowerSetting>& setting = {},
                 bool with_times = false);

}  // namespace zeus::test
