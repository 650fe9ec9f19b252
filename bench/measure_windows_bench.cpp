// What a window costs: begin and end with one GPU beside the driver's own two calls, and many windows open at once.
// The device answers from memory, so the yardstick is the bare pair of calls.
#include "base/clock.hpp"
#include "measure/windows.hpp"
#include "physics/gpu_model.hpp"
#include "tests/support/simulated_gpu.hpp"

#include <zeus/measure.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace {

struct Bench {
  explicit Bench(int gpu_count) {
    zeus::measure::Sampler::Devices devices;
    for (int i = 0; i < gpu_count; ++i) {
      gpus.push_back(std::make_shared<zeus::test::SimulatedGpu>(zeus::physics::preset("A100"), clock));
      devices.gpus.push_back(gpus.back());
    }
    source = std::make_shared<zeus::measure::SamplerSource>(devices, clock);
    monitor = std::make_unique<zeus::Monitor>(zeus::measure::monitor_of(source, zeus::MonitorOptions{}));
  }
  zeus::SystemClock clock;
  std::vector<std::shared_ptr<zeus::test::SimulatedGpu>> gpus;
  std::shared_ptr<zeus::measure::SamplerSource> source;
  std::unique_ptr<zeus::Monitor> monitor;
};

void begin_and_end(benchmark::State& state) {
  Bench bench{1};
  const zeus::Monitor::Listening listening = bench.monitor->listen();
  bench.clock.sleep_until(bench.clock.now() + zeus::Seconds{0.5});
  for ([[maybe_unused]] auto _ : state) {
    bench.monitor->begin("step");
    benchmark::DoNotOptimize(bench.monitor->end("step"));
  }
}
BENCHMARK(begin_and_end)->Name("begin_and_end/ours");

// The same with a measurement that is reused: nothing is allocated.
void begin_and_end_into(benchmark::State& state) {
  Bench bench{1};
  const zeus::Monitor::Listening listening = bench.monitor->listen();
  bench.clock.sleep_until(bench.clock.now() + zeus::Seconds{0.5});
  zeus::Measurement measurement;
  for ([[maybe_unused]] auto _ : state) {
    bench.monitor->begin("step");
    bench.monitor->end("step", measurement);
    benchmark::DoNotOptimize(measurement);
  }
}
BENCHMARK(begin_and_end_into)->Name("begin_and_end/reused");

void two_driver_calls(benchmark::State& state) {
  Bench bench{1};
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(bench.gpus[0]->energy());
    benchmark::DoNotOptimize(bench.gpus[0]->energy());
  }
}
BENCHMARK(two_driver_calls)->Name("begin_and_end/yardstick");  // the two calls to the driver that a window needs

// With the start of the sampler's thread: what a program pays after each idle time of two seconds.
void cold_begin(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>(1);
    state.ResumeTiming();
    bench->monitor->begin("step");
    state.PauseTiming();
    bench.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(cold_begin)->Iterations(200);

void begin_and_end_beside_10000_open(benchmark::State& state) {
  Bench bench{1};
  for (int i = 0; i < 10'000; ++i) {
    bench.monitor->begin("open " + std::to_string(i));
  }
  bench.clock.sleep_until(bench.clock.now() + zeus::Seconds{0.5});
  for ([[maybe_unused]] auto _ : state) {
    bench.monitor->begin("step");
    benchmark::DoNotOptimize(bench.monitor->end("step"));
  }
}
BENCHMARK(begin_and_end_beside_10000_open);

}  // namespace
