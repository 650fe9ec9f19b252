// The cost of a virtual GPU: readings within a second that is already integrated, as in a driver's call; the step into
// the next second; settling at an operating point; and an hour without any reading. The yardstick of a reading is a
// read of the system's monotonic clock, which every driver call also makes.

#include "physics/gpu.hpp"
#include "physics/sensors.hpp"
#include "physics/workload.hpp"

#include <benchmark/benchmark.h>

#include <memory>

namespace {

using namespace zeus;
using namespace zeus::physics;

struct Card {
  explicit Card(const char* name) : model{preset(name)} {
    gpu.start({});
    gpu.set_load({}, Load::square(Demand::of_power(80_W), Demand::of_power(300_W), 200_ms, {}));
    now = now + 100_s;
    gpu.advance(now);
  }
  GpuModel model;
  std::unique_ptr<GpuState> state = std::make_unique<GpuState>();
  Gpu gpu{model, *state};
  Sensors sensors{gpu};
  Instant now;
};

// Moves within one second, as a frequent reader does.
Instant tick(Card& card, std::int64_t& step) {
  step = (step + 1'000) % 900'000'000;
  return {card.now.nanoseconds + step};
}

template <auto Member>
void reading(benchmark::State& state) {
  Card card{"H100"};
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Instant now = tick(card, step);
    card.gpu.advance(now);
    benchmark::DoNotOptimize((card.sensors.*Member)(now));
  }
}

void monotonic_clock(benchmark::State& state) {
  const SystemClock clock;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(clock.now());
  }
}

BENCHMARK(reading<&Sensors::counter>)->Name("energy_counter/ours");
BENCHMARK(monotonic_clock)->Name("energy_counter/yardstick");
BENCHMARK(reading<&Sensors::instant>)->Name("instant_power/ours");
BENCHMARK(monotonic_clock)->Name("instant_power/yardstick");
BENCHMARK(reading<&Sensors::average>)->Name("average_power/ours");
BENCHMARK(monotonic_clock)->Name("average_power/yardstick");

void truth(benchmark::State& state) {
  Card card{"H100"};
  std::int64_t step = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(card.gpu.energy(tick(card, step)));
  }
}
BENCHMARK(truth)->Name("true_energy");

void next_second(benchmark::State& state) {
  Card card{"V100"};
  for ([[maybe_unused]] auto _ : state) {
    card.now = card.now + 1_s;
    card.gpu.advance(card.now);
  }
}
BENCHMARK(next_second)->Name("advance_one_second");

void unwatched_hour(benchmark::State& state) {
  Card card{"V100"};
  for ([[maybe_unused]] auto _ : state) {
    card.now = card.now + 3600_s;
    card.gpu.advance(card.now);
  }
}
BENCHMARK(unwatched_hour)->Name("advance_one_hour");

void settling(benchmark::State& state) {
  const GpuModel& model = preset("A40");
  Controls controls = Controls::defaults(model);
  controls.requested_limit = 175_W;
  const Demand demand = workload("imagenet").demand(model, 256);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(settle(model, controls, demand, 60_degC));
  }
}
BENCHMARK(settling)->Name("settle_under_a_limit");

}  // namespace
